# A server in a container: `docker build -t weft .`, docs/production.md#containers.
# Needs this base image and npm's registry, nothing else; runs as a user without rights, on a root that may be read-only.
ARG NODE=22
FROM node:${NODE}-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY test/package.json test/
RUN npm install --workspaces=false --no-save --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm pack --pack-destination /tmp \
  && mkdir /opt/weft \
  && tar -xzf /tmp/weft-graph-*.tgz -C /opt/weft --strip-components 1 \
  && cp package-lock.json /opt/weft/ \
  && cd /opt/weft \
  && npm install --workspaces=false --omit=dev --no-save --ignore-scripts --no-audit --no-fund \
  && rm package-lock.json \
  && node bin/code-cache.mjs

FROM node:${NODE}-slim
ENV NODE_ENV=production
COPY --from=build /opt/weft /opt/weft
RUN ln -s /opt/weft/bin/weft /usr/local/bin/weft && mkdir /data && chown node:node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8080 9080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["weft"]
CMD ["serve", "--data", "/data", "--http", "0.0.0.0:8080", "--anonymous", "off"]
