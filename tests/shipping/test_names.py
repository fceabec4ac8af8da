"""Our packages are not installed, so nothing that is installed may bear one of their names."""

from importlib.metadata import packages_distributions

from tests.shipping.harness import PACKAGES


def test_no_installed_distribution_has_a_package_named_like_ours() -> None:
    installed = packages_distributions()
    assert {name: installed[name] for name in PACKAGES if name in installed} == {}


def test_the_list_of_installed_packages_is_not_empty() -> None:
    assert "pytest" in packages_distributions()
