// Plans, applies and approvals over REST, as the command line asks for them.
import { dump } from 'js-yaml'
import type { TestAnswer, TestServer } from './server.ts'

/** A source on the wire. */
export function sourceText(realms: readonly object[], name: string, settings?: object): object {
  const text = realms.map((one) => dump(one, { noRefs: true })).join('---\n')
  return {
    name,
    revision: String(text.length),
    ...(settings && { settings }),
    files: [{ file: `${name}.yaml`, text, values: [] }],
  }
}

/** Regent's own API on a server. */
export function plansOn({ call }: TestServer, source: string) {
  const post = (path: string, body?: object, token?: string) =>
    call('POST', `/regent/v1/${path}`, { ...(body && { body }), ...(token && { token }) })
  return {
    plan: (...realms: object[]): Promise<TestAnswer> => post('plan', sourceText(realms, source)),
    save: async (...realms: object[]) => (await post('plan?save=true', sourceText(realms, source))).body,
    apply: async (...realms: object[]) => (await post('apply', sourceText(realms, source))).body,
    carryOut: (id: string, body?: object): Promise<TestAnswer> => post(`plans/${id}/apply`, body),
    approve: (id: string, body?: object, token?: string): Promise<TestAnswer> =>
      post(`plans/${id}/approve`, body, token),
    reject: (id: string): Promise<TestAnswer> => call('DELETE', `/regent/v1/plans/${id}`),
    show: (id: string): Promise<TestAnswer> => call('GET', `/regent/v1/plans/${id}`),
    list: (): Promise<TestAnswer> => call('GET', '/regent/v1/plans'),
  }
}
