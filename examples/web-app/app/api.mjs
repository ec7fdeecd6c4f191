// The API: it accepts access tokens of the realm that are for it, and checks the caller's roles. Start it with: npm install jose; node api.mjs
import { createServer } from 'node:http'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const issuer = process.env.ISSUER ?? 'http://127.0.0.1:8080/realms/orders'
const keys = createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`))
const cors = { 'access-control-allow-origin': 'http://localhost:5173', 'access-control-allow-headers': 'authorization' }

/** Returns the roles of the caller in this API. Throws if the token is not valid. */
async function readRoles(authorization = '') {
  const { payload } = await jwtVerify(authorization.replace(/^Bearer /, ''), keys, { issuer, audience: 'orders-api' })
  return payload.resource_access?.['orders-api']?.roles ?? []
}

const server = createServer(async (request, response) => {
  const respond = (status, body) => response.writeHead(status, cors).end(JSON.stringify(body))
  if (request.method === 'OPTIONS') return respond(204)
  const roles = await readRoles(request.headers.authorization).catch(() => undefined)
  if (!roles) return respond(401, { error: 'the token is missing or not valid' })
  if (!roles.includes('read')) return respond(403, { error: 'the role read is required' })
  respond(200, [{ order: 1, item: 'Tea' }])
})

server.listen(Number(process.env.PORT ?? 5174), () =>
  console.log(`API at http://localhost:${server.address().port}/orders`),
)
