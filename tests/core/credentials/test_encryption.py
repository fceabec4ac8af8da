"""What is sealed opens only where it was sealed for."""

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.credentials.encryption import CannotOpen, make_data_key, open_sealed, seal, unwrap, wrap
from core.credentials.secret_keys import SecretKeys, read_secret_key
from tests.core.credentials.harness import new_key

places = st.lists(st.text() | st.integers(), max_size=4).map(tuple)


@settings(deadline=None)
@given(plain=st.binary(max_size=200), place=places, other=places)
def test_sealed_bytes_open_in_their_own_place_and_in_no_other(
    plain: bytes, place: tuple[str | int, ...], other: tuple[str | int, ...]
) -> None:
    key = make_data_key()
    sealed = seal(key, plain, *place)
    assert open_sealed(key, sealed, *place) == plain
    if other != place:
        with pytest.raises(CannotOpen):
            open_sealed(key, sealed, *other)


def test_names_that_run_together_are_different_places() -> None:
    key = make_data_key()
    sealed = seal(key, b"x", "ab", "c")
    for place in (("a", "bc"), ("abc",), ("ab", "c", ""), ('ab", "c',)):
        with pytest.raises(CannotOpen):
            open_sealed(key, sealed, *place)


@settings(deadline=None)
@given(st.data())
def test_a_changed_bit_a_cut_or_another_key_does_not_open(data: st.DataObject) -> None:
    key = make_data_key()
    sealed = seal(key, b"token", "ann")
    bit = data.draw(st.integers(0, len(sealed) * 8 - 1))
    changed = bytearray(sealed)
    changed[bit // 8] ^= 1 << bit % 8
    cut = sealed[: data.draw(st.integers(0, len(sealed) - 1))]
    for wrong in (bytes(changed), cut):
        with pytest.raises(CannotOpen):
            open_sealed(key, wrong, "ann")
    with pytest.raises(CannotOpen):
        open_sealed(make_data_key(), sealed, "ann")


def test_the_same_value_sealed_twice_shares_neither_nonce_nor_bytes() -> None:
    key = make_data_key()
    sealed = {seal(key, b"token", "ann") for _ in range(1000)}
    assert len(sealed) == len({value[:12] for value in sealed}) == len({value[12:] for value in sealed}) == 1000


def test_a_data_key_opens_for_its_own_tenant_version_and_secret_key_only() -> None:
    secret_key, data_key = new_key(), make_data_key()
    wrapped = wrap(secret_key, data_key, "ann", 1)
    assert unwrap(secret_key, wrapped, "ann", 1) == data_key
    for wrong in ((new_key(), "ann", 1), (secret_key, "bob", 1), (secret_key, "ann", 2)):
        with pytest.raises(CannotOpen):
            unwrap(wrong[0], wrapped, *wrong[1:])


@pytest.mark.parametrize("size", [0, 1, 16, 24, 31, 33, 64])
def test_a_key_of_another_length_is_refused_in_words_without_it(size: int) -> None:
    text = base64.b64encode(b"k" * size).decode()
    with pytest.raises(ValueError, match=f"base64 of 32 bytes, and one is of {size}") as caught:
        read_secret_key(text)
    assert not text or text not in str(caught.value)


@pytest.mark.parametrize("text", ["secret", "=" * 44, "é" * 44, "_" * 43 + "=", "a" * 43])
def test_what_is_not_base64_is_refused_in_words_without_it(text: str) -> None:
    with pytest.raises(ValueError, match="must be base64") as caught:
        read_secret_key(text)
    assert text not in str(caught.value)


def test_a_key_does_not_show_itself() -> None:
    key = new_key()
    shown = f"{key!r} {SecretKeys([key])!r}"
    assert repr(key.value) not in shown
    assert base64.b64encode(key.value).decode() not in shown
    assert key.id not in (key.value.hex(), key.value.hex()[:16])


def test_no_keys_are_no_secret_keys() -> None:
    with pytest.raises(ValueError, match="no secret key"):
        SecretKeys([])
