"""litellm without the parts that direct calls never use: its routers, proxies, batches, images, files and other
interfaces.

Importing litellm, or any module of it, runs an `__init__` that imports all of it; 1.106.12 defers no more than 1.106.2.
Kept, because a process that makes direct calls saves 1.4 s of CPU and 36 MB at its start (2,207 modules for 2,713). It
can go once litellm's own `__init__` is as small.

Its names are of two kinds: settings and the price map, which it assigns, and names that it only imports to pass on.
Here the imports of the second kind are put off: a name is imported at its first use, and `complete` runs them all, in
order, which leaves litellm as it would have been. The use of a name that no import mentions (some import `*`) completes
it, too.
"""

import ast
import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

_NAME = "litellm"
_PASSED_ON = ("litellm.utils",)
"""Modules whose names `litellm.main`, which is imported by `*`, passes on."""


def import_lean() -> ModuleType:
    """Import litellm with its imports put off; return the module if it is imported already."""
    if _NAME in sys.modules:
        return sys.modules[_NAME]
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module(_NAME)
    finally:
        sys.meta_path.remove(finder)


def complete() -> None:
    """Run the imports that were put off, if any."""
    module = import_lean()
    if isinstance(module, _LeanModule):
        module.complete()


@dataclass(slots=True)
class PutOff:
    """Statements that were put off, and the names that they define, each with its module and its name there."""

    statements: list[ast.stmt] = field(default_factory=list)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)


def put_off(tree: ast.Module) -> PutOff:
    """Take from litellm's `__init__` the imports of litellm's parts that nothing else there uses."""
    used = {name for statement in tree.body for name in _names_used(statement)}
    off, kept = PutOff(), list[ast.stmt]()
    for statement in tree.body:
        names = _names_of(statement)
        if names is not None and not used & names.keys():
            off.names |= names
            off.statements.append(statement)
        else:
            kept.append(statement)
    tree.body = kept
    return off


def _names_of(statement: ast.stmt) -> dict[str, tuple[str, str]] | None:
    """Return the names that an import of litellm's own parts defines; None for any other statement."""
    if isinstance(statement, ast.ImportFrom) and statement.level < 2:
        module = ".".join(filter(None, (_NAME if statement.level else "", statement.module)))
        if module.split(".")[0] == _NAME:
            named = [alias for alias in statement.names if alias.name != "*"]
            return {alias.asname or alias.name: (module, alias.name) for alias in named}
    if isinstance(statement, ast.Import) and all(
        alias.asname and alias.name.startswith(f"{_NAME}.") for alias in statement.names
    ):
        return {str(alias.asname): (alias.name, "") for alias in statement.names}
    return None


def _names_used(statement: ast.stmt) -> set[str]:
    """Return the names that a statement or a function in it looks up. Annotations are not looked up."""
    if isinstance(statement, ast.If) and isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING":
        return set()
    found, left = set[str](), list[ast.AST]([statement])
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            found.add(node.id)
        annotated = {id(part) for name in ("annotation", "returns") if (part := getattr(node, name, None)) is not None}
        left += [child for child in ast.iter_child_nodes(node) if id(child) not in annotated]
    return found


class _LeanModule(ModuleType):
    """litellm, some of whose imports are put off."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if submodule := sys.modules.get(f"{_NAME}.{name}"):
            return submodule
        with _LOCK:
            for module in _PASSED_ON:
                if name in vars(importlib.import_module(module)):
                    return self._keep(name, getattr(sys.modules[module], name))
            if name not in self._off().names:
                self.complete()
                return getattr(self, name)
            module, attribute = self._off().names[name]
            if module == _NAME:
                module, attribute = f"{_NAME}.{attribute}", ""
            found = importlib.import_module(module)
            return self._keep(name, getattr(found, attribute) if attribute else found)

    def complete(self) -> None:
        """Run the statements put off, and become an ordinary module."""
        with _LOCK:
            if not isinstance(self, _LeanModule):  # another thread was first
                return
            code = compile(ast.Module(self._off().statements, []), str(self.__file__), "exec", dont_inherit=True)
            self.__class__ = ModuleType  # type: ignore[assignment]  # a module's class may change
            assigned = dict(self.__dict__)
            exec(code, self.__dict__)  # noqa: S102 - litellm's own statements
            self.__dict__.update(assigned)  # an import of `*` would undo later changes

    def _keep(self, name: str, value: Any) -> Any:
        self.__dict__[name] = value
        return value

    def _off(self) -> PutOff:
        loader = self.__spec__ and self.__spec__.loader
        assert isinstance(loader, _Loader)  # noqa: S101 - nothing else makes these
        return loader.off


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        tree = ast.parse(self.get_data(self.path))
        self.off = put_off(tree)
        code: CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        module.__class__ = _LeanModule
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if fullname == _NAME else None
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(fullname, spec.origin)
        return spec


_LOCK = threading.RLock()
