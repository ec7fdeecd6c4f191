// The least server with the same work: one prepared statement for each request, or one signature.
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { generateKeyPair, SignJWT } from 'jose'
import pg from 'pg'

const CONNECTIONS = 10

const [databaseUrl] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS })
const { privateKey } = await generateKeyPair('RS256')
const claims = { iss: 'https://id.example.com/realms/measured', sub: 'service', azp: 'service', scope: 'profile email' }

const server = fastify()
server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))

server.get<{ Params: { list: string } }>('/lists/:list', async (request) => {
  const text = 'select body from bare_row where list = $1 order by position'
  const { rows } = await pool.query({ name: 'list', text, values: [request.params.list] })
  return rows.map(({ body }) => body)
})
server.get<{ Params: { list: string; position: string } }>('/rows/:list/:position', async (request) => {
  const { list, position } = request.params
  const text = 'select body from bare_row where list = $1 and position = $2'
  const { rows } = await pool.query({ name: 'row', text, values: [list, position] })
  return rows[0].body
})
server.post<{ Body: { username: string; email: string } }>('/users', async ({ body }, reply) => {
  const text = 'insert into bare_user (realm, id, username, email, body) values ($1, gen_random_uuid(), $2, $3, $4)'
  const values = [1, body.username, body.email, JSON.stringify(body)]
  await pool.query({ name: 'user', text, values })
  return reply.status(201).send()
})
server.post('/decision', async () => {
  const { rows } = await pool.query({ name: 'decision', text: 'select true as result' })
  return rows[0]
})
server.post('/token', async () => {
  const token = new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).setIssuedAt().setExpirationTime('5m')
  return { access_token: await token.sign(privateKey), token_type: 'Bearer', expires_in: 300 }
})

await server.listen({ host: '127.0.0.1', port: 0 })
process.send!((server.server.address() as AddressInfo).port)
process.on('disconnect', () => process.exit())
