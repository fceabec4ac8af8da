"""A tool that returns files: a picture and a document."""

from core.tools.context import ToolExecutionContext
from core.tools.tool import tool
from tests.abilities.documents import samples


@tool(name="draw_chart", effect="once")
async def draw_chart(context: ToolExecutionContext) -> str:
    """Draw a chart, with the numbers behind it."""
    await context.files.put("chart.png", samples.picture("PNG", 600, 300))
    await context.files.put("numbers.pdf", samples.pdf(["Tea 3", "Milk 1"]))
    return "Drawn."
