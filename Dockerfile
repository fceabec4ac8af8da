# One image for `migrate`, `web` and `worker`; the command says which it is.
FROM python:3.12-slim AS build
WORKDIR /build
RUN pip install --no-cache-dir uv==0.13.9
COPY requirements.txt .
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never
RUN uv venv --no-project --python 3.12 /opt/venv
RUN uv pip install --no-cache --require-hashes --python /opt/venv/bin/python -r requirements.txt

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin onevalet
COPY --from=build /opt/venv /opt/venv
# The code belongs to root: what serves strangers cannot change it.
WORKDIR /app
COPY . .
# The folder of the project comes before anything installed, from wherever the process is started.
ENV PATH=/opt/venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
ENV HOST=0.0.0.0 PORT=8080 ONEVALET_HOME=/home/onevalet/.onevalet
USER onevalet
EXPOSE 8080
CMD ["python", "-m", "onevalet", "web"]
