"""The groups of commands whose options have a file of their own."""

from onevalet.cli.building import building_app
from onevalet.cli.program_commands import mcp_app
from onevalet.cli.tenant_commands import tenants_app

FURTHER = {
    "": building_app,
    "tenants": tenants_app,
    "mcp": mcp_app,
}
