// A minimal client of the admin API, which both servers have.

/** The user name and the password of the administrator of both servers. */
const ADMIN = { username: 'admin', password: 'admin' }

/** A client that is logged in as the administrator. */
export class AdminClient {
  readonly url: string
  #token = { text: '', until: 0 }

  constructor(url: string) {
    this.url = url
  }

  /** Returns the Authorization header. The token is renewed 30 seconds before it expires. */
  async getAuthorization(): Promise<string> {
    if (performance.now() > this.#token.until) {
      const login = { grant_type: 'password', client_id: 'admin-cli', ...ADMIN }
      const { access_token: text, expires_in } = await this.requestToken('master', login)
      this.#token = { text: String(text), until: performance.now() + (Number(expires_in) - 30) * 1_000 }
    }
    return `Bearer ${this.#token.text}`
  }

  async requestToken(realm: string, form: Record<string, string>): Promise<Record<string, unknown>> {
    const path = `/realms/${realm}/protocol/openid-connect/token`
    const response = await fetch(this.url + path, { method: 'POST', body: new URLSearchParams(form) })
    return (await readResponse(response, path)) as Record<string, unknown>
  }

  async get<T>(path: string): Promise<T> {
    return (await this.#send('GET', path)) as T
  }

  async post(path: string, body?: unknown): Promise<unknown> {
    return this.#send('POST', path, body)
  }

  /** Deletes what the path names, if it exists. */
  async delete(path: string): Promise<void> {
    await fetch(this.url + path, { method: 'DELETE', headers: { authorization: await this.getAuthorization() } })
  }

  async #send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method,
      headers: { authorization: await this.getAuthorization(), 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return readResponse(response, path)
  }
}

async function readResponse(response: Response, path: string): Promise<unknown> {
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.url || path}: status ${response.status} ${text}`)
  return text && JSON.parse(text)
}
