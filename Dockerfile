# Pipewright beside a checkout of manifests. How to build and run it: docs/tutorials/kubernetes.md; held by test/slow/image.test.ts.

# The version of Node is the one that package-lock.json names. Pin the digest too when you build for production:
# --build-arg NODE_IMAGE=docker.io/library/node:26.10.0-trixie-slim@sha256:…
ARG NODE_IMAGE=docker.io/library/node:26.10.0-trixie-slim

# The bundle is the same for every platform, so it is built on the builder's own.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund --cache /tmp/npm && rm -rf /tmp/npm
COPY LICENSE build.ts ./
COPY bin bin
COPY manifests manifests
COPY src src
# `pipewright` for `docker exec` and `kubectl exec`; a home for the ledger that belongs to the user below
RUN node build.ts && chmod -R u=rwX,go=rX LICENSE package.json bin dist manifests && chmod 0755 bin/pipewright.js \
  && mkdir -p /build/bin /build/state/pipewright && chmod 0700 /build/state/pipewright \
  && ln -s /app/bin/pipewright.js /build/bin/pipewright

FROM ${NODE_IMAGE}
ARG VERSION=0.2.0
ARG REVISION=unknown
ARG CREATED=unknown
ARG SOURCE=unknown
ARG NODE_IMAGE
LABEL org.opencontainers.image.title="pipewright" \
  org.opencontainers.image.description="A GitOps reconciler for data ingestion: no pipe is created twice." \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.created="${CREATED}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.base.name="${NODE_IMAGE}"

# What changes least comes first. Nothing runs in this stage, so that it needs no emulation for another platform.
COPY --from=build --chown=65532:65532 /build/state/ /var/lib/
COPY --from=build /build/bin/ /usr/local/bin/
COPY --from=build /app/LICENSE /app/package.json /app/
COPY --from=build /app/bin /app/bin
# The examples: the chart runs them with `platform.sandbox` alone.
COPY --from=build /app/manifests /app/manifests
COPY --from=build /app/dist /app/dist

# One arena of the C library's memory: with one for each thread, what the threads gave back stays with the process.
ENV NODE_ENV=production PIPEWRIGHT_LISTEN=[::]:8080 PIPEWRIGHT_METRICS_LISTEN=[::]:9090 MALLOC_ARENA_MAX=1
# The ledger's default place is below it. No VOLUME: with an anonymous one a new container would quietly forget its pipes;
# without one and with a read-only root, its first error says that there is nowhere to write.
WORKDIR /var/lib/pipewright
USER 65532:65532
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["node", "-e", \
  "fetch(`http://127.0.0.1:${(process.env.PIPEWRIGHT_METRICS_LISTEN || process.env.PIPEWRIGHT_LISTEN).split(':').at(-1)}/healthz`, {signal: AbortSignal.timeout(4000)}).then(({ok}) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Node is the first process and hears the signals itself.
ENTRYPOINT ["node", "/app/bin/pipewright.js"]
CMD ["run"]
