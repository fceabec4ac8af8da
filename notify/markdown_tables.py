"""Tables of which no cell is lost: what a row has beyond the header, GFM leaves out; pure."""

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, getLine, table
from markdown_it.token import Token


def keep_all_cells(parser: MarkdownIt) -> None:
    """Make a parser accept tables with rows that are longer than the header."""
    parser.block.ruler.at("table", _whole_table, {"alt": ["paragraph", "reference"]})


def _whole_table(state: StateBlock, first: int, behind: int, silent: bool) -> bool:
    start = len(state.tokens)
    if not table(state, first, behind, silent):
        return False
    rows = [at for at in range(start, len(state.tokens)) if state.tokens[at].type == "tr_open"]
    width = sum(token.type == "th_open" for token in state.tokens[start:])
    for row in reversed(rows[1:]):
        opened = state.tokens[row]
        end = next(at for at in range(row, len(state.tokens)) if state.tokens[at].type == "tr_close")
        line = (opened.map or [first])[0]
        state.tokens[end:end] = _further(_cells(state, line)[width:], opened, line)
    return True


def _cells(state: StateBlock, line: int) -> list[str]:
    written = getLine(state, line).strip()
    cells = escapedSplit(written)
    # As the parser counts them: a pipe at either end of a line divides nothing.
    return cells[not cells[0] : len(cells) - (not cells[-1])]


def _further(cells: list[str], row: Token, line: int) -> list[Token]:
    tokens = []
    for cell in cells:
        level = row.level + 1
        tokens += [
            Token("td_open", "td", 1, level=level, block=True),
            Token(
                "inline", "", 0, level=level + 1, map=[line, line + 1], content=cell.strip(), children=[], block=True
            ),
            Token("td_close", "td", -1, level=level, block=True),
        ]
    return tokens
