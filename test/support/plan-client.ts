// A client for plans, applies and approvals of Regent's API.
import { dump } from 'js-yaml'
import type { TestResponse, TestServer } from './server.ts'

/** Returns the body for a source with realms. */
export function toSourceBody(realms: readonly object[], name: string, settings?: object): object {
  const text = realms.map((realm) => dump(realm, { noRefs: true })).join('---\n')
  return {
    name,
    revision: String(text.length),
    ...(settings && { settings }),
    files: [{ file: `${name}.yaml`, text, values: [] }],
  }
}

/** Creates a client for plans of a source. */
export function createPlanClient({ call }: TestServer, source: string) {
  const post = (path: string, body?: object, token?: string) =>
    call('POST', `/regent/v1/${path}`, { ...(body && { body }), ...(token && { token }) })
  return {
    plan: (...realms: object[]): Promise<TestResponse> => post('plan', toSourceBody(realms, source)),
    save: async (...realms: object[]) => (await post('plan?save=true', toSourceBody(realms, source))).body,
    apply: async (...realms: object[]) => (await post('apply', toSourceBody(realms, source))).body,
    applySaved: (id: string, body?: object): Promise<TestResponse> => post(`plans/${id}/apply`, body),
    approve: (id: string, body?: object, token?: string): Promise<TestResponse> =>
      post(`plans/${id}/approve`, body, token),
    reject: (id: string): Promise<TestResponse> => call('DELETE', `/regent/v1/plans/${id}`),
    show: (id: string): Promise<TestResponse> => call('GET', `/regent/v1/plans/${id}`),
    list: (): Promise<TestResponse> => call('GET', '/regent/v1/plans'),
  }
}
