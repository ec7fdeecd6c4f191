// The machine: it gets a token for itself, and calls the API. Start it with: CLIENT_SECRET=… node machine.mjs
const issuer = process.env.ISSUER ?? 'http://127.0.0.1:8080/realms/orders'
const api = process.env.API ?? 'http://localhost:5174/orders'

const tokens = await fetch(`${issuer}/protocol/openid-connect/token`, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'nightly-report',
    client_secret: process.env.CLIENT_SECRET,
  }),
}).then((response) => response.json())
if (!tokens.access_token) throw new Error(`No token: ${tokens.error_description ?? tokens.error}`)

const response = await fetch(api, { headers: { authorization: `Bearer ${tokens.access_token}` } })
console.log(response.status, await response.text())
