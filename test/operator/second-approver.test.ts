// A required second approver on a real API server: who has edited or deleted resources may not approve the plan by an annotation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { getSavedPlan, recordApproval } from '../../src/service/sources/saved-plans.ts'
import { hasAdmission, onAdmission, startAdmission, type TestAdmission } from '../support/admission-webhook.ts'
import { type Kubernetes, openKubernetes } from '../support/kubernetes.ts'
import { createPlanClient } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import {
  createNamespace,
  findCondition,
  getOperatorCluster,
  resource,
  startOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasAdmission)(onAdmission, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operator: TestOperator
  let admission: TestAdmission
  const failures: unknown[] = []

  beforeAll(async () => {
    service = { ...(await testService()).service, requiresSecondApprover: true }
    kubernetes = await openKubernetes()
    operator = startOperator(service)
    admission = await startAdmission({ service, kubernetes }, newName('regent-test'), {
      cluster: getOperatorCluster(),
      findSourcePermissions: () => undefined,
      isAdoptable: () => false,
      scope: {},
      isWatchedNamespace: () => true,
      onError: (error) => failures.push(error),
    })
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes, operator)
    await admission?.stop()
    expect(failures).toEqual([])
    expect(operator?.failures).toEqual([])
  })

  /** Sends a request of a user of the cluster about the Realm of a namespace. */
  const send = async (space: TestNamespace, user: string, method: string, body?: object) => {
    const path = await kubernetes.pathOf({ apiVersion: 'regent.dev/v1alpha1', kind: 'Realm' }, space.namespace)
    return kubernetes.request(method, method === 'POST' ? path : `${path}/acme`, body, {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      'impersonate-user': user,
      'impersonate-group': 'system:masters',
    })
  }
  const acme = (realm: string, groups: number, more: object = {}) =>
    resource('Realm', 'acme', {
      realm,
      guards: { deletions: 5 },
      groups: Array.from({ length: groups }, (_, at) => ({ name: `group-${at}` })),
      ...more,
    })
  const annotate = (space: TestNamespace, user: string, plan: string) =>
    send(space, user, 'PATCH', { metadata: { annotations: { 'regent.dev/approved-plan': plan } } })
  /** Lets ann create a Realm, and remove so many of its groups that the plan needs an approval. Returns the plan. */
  const removeGroups = async (space: TestNamespace, realm: string): Promise<string> => {
    await send(space, 'ann', 'POST', acme(realm, 10))
    await space.waitForReady(acme(realm, 10), 'True')
    await send(space, 'ann', 'PATCH', { spec: acme(realm, 1).spec })
    return (await space.waitForReady(acme(realm, 1), 'False', 'PendingApproval')).status.plan.id
  }

  test('the user who edited a resource cannot set the annotation that approves it, and another user can', async () => {
    const space = await admission.createReviewedNamespace()
    const realm = newName()
    const plan = await removeGroups(space, realm)
    expect(await annotate(space, 'ann', plan)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining(`ann made changes of the plan ${plan}. Another user must approve it`) },
    })
    expect((await annotate(space, 'bob', plan)).status).toBe(200)
    await space.waitForReady(acme(realm, 1), 'True')
    const { approvedBy } = await getSavedPlan(service, SYSTEM, plan)
    expect(approvedBy).toBe('bob')
  })

  test('an annotation that no admission review has seen approves nothing, and the status advises what to do', async () => {
    const space = await createNamespace(kubernetes)
    const plan = await removeGroups(space, newName())
    await annotate(space, 'bob', plan)
    await waitUntil(async () => {
      const { message } = findCondition(await space.get(acme('', 0)), 'Ready')
      return message.includes(`Regent does not know who set the annotation with the plan ${plan}`)
    })
    expect((await getSavedPlan(service, SYSTEM, plan)).approvedAt).toBeNull()
  })

  test('the user who deleted a Realm is an author of the plan that deletes the realm', async () => {
    const space = await admission.createReviewedNamespace()
    const realm = newName()
    await send(space, 'ann', 'POST', acme(realm, 0))
    await space.waitForReady(acme(realm, 0), 'True')
    const server = await testServer()
    await server.create(`/admin/realms/${realm}/users`, { username: 'eve' })
    await send(space, 'carol', 'DELETE')
    await space.waitForDeletion(acme(realm, 0))
    const regent = createPlanClient(server, realm)
    const findPlan = async () =>
      (await regent.list()).body.find(({ realms }: { realms: { realm: string }[] }) => realms[0]!.realm === realm)
    await waitUntil(async () => (await findPlan()) !== undefined)
    const { id } = await findPlan()
    const approval = { plan: id, withCredentials: false }
    const caller = (user: string) => ({ actor: { kind: 'administrator' as const, user } })
    await expect(recordApproval(service, caller('carol'), approval)).rejects.toMatchObject({
      code: 'forbidden',
      reason: expect.stringContaining('carol made changes of the plan'),
    })
    expect(await recordApproval(service, caller('bob'), approval)).toMatchObject({ approvedBy: 'bob' })
  })
})
