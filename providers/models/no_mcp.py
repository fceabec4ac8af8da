"""litellm's gateway to MCP servers, replaced by a gateway without servers.

litellm 1.106 imports its gateway at each call with tools and at each over the Responses API, to check whether a tool is
an MCP server's. None of ours is. Kept, because the import takes 1.1 s of CPU and 12 MB on the event loop of the first
such call, and fails without the extra `mcp`; `_skip_mcp_handler` avoids it for chat completions only. It goes with an
update of litellm: 1.109 looks at the tools before it imports.
"""

import sys
from types import ModuleType

GATEWAY = "litellm.responses.mcp.litellm_proxy_mcp_handler"


def replace_gateway() -> None:
    """Let litellm find ours when it looks for its own, unless that is imported already."""
    if GATEWAY not in sys.modules:
        module = ModuleType(GATEWAY, __doc__)
        module.__dict__["LiteLLM_Proxy_MCP_Handler"] = _NoServers
        sys.modules[GATEWAY] = module


class _NoServers:
    @staticmethod
    def should_use_litellm_mcp_gateway(tools: object) -> bool:
        return False
