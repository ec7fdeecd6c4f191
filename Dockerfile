# The image that charts/regent runs: docker build --tag regent:0.1.0 .

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /regent
COPY package.json package-lock.json ./
# No scripts: the only one fetches the Node that is here already.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
# For sources in git, and signatures of commits. Security updates matter more than the same version each time.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /regent
COPY --from=build /regent/package.json ./
COPY --from=build /regent/bin ./bin
COPY --from=build /regent/node_modules ./node_modules
COPY --from=build /regent/dist ./dist
# The user node of the image, by number: so Kubernetes sees that it is not root.
USER 1000:1000
ENV NODE_ENV=production
EXPOSE 8080 8443
ENTRYPOINT ["node", "bin/regent.js"]
CMD ["serve", "--production"]
