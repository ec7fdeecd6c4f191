// Sessions of users at clients, without logins.
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { addClientSession, startSession } from '../../src/service/login/sessions.ts'

/** Starts a session of a user at a client, by their ids. It starts at the given time, or now. */
export async function startClientSession(
  service: Service,
  realm: string,
  { user, client, start = new Date() }: { user: string; client: string; start?: Date },
): Promise<void> {
  await service.writeRuntime(SYSTEM, realm, async (runtime) => {
    const context = { ...runtime, now: start }
    const session = await startSession(context, { user, body: {} })
    await addClientSession(context, session, { client, scope: '', base: 'http://localhost' })
  })
}
