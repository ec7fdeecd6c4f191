// The plugin of kubectl, as a process with a kubeconfig only.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator } from '../support/test-operator.ts'

const run = promisify(execFile)

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  /** Runs the plugin, as kubectl does. */
  const kubectlRegent = async (...args: string[]) => {
    const process = run(globalThis.process.execPath, ['bin/kubectl-regent.js', ...args])
    const { stdout = '', stderr = '' } = await process.catch((error) => error)
    return { code: process.child.exitCode, stdout, stderr }
  }

  test('plan prints a plan that is pending approval, and approve applies exactly that one', async () => {
    const space = await createNamespace(setup.kubernetes)
    const inNamespace = ['-n', space.namespace]
    const acme = (names: readonly string[]) =>
      resource('Realm', 'acme', {
        ...{ realm, guards: { deletions: 0 } },
        clients: names.map((clientId) => ({ clientId })),
      })
    const realm = newName()
    await space.apply(acme(['shop', 'stock']))
    await space.waitForReady(acme([]), 'True')
    expect(await kubectlRegent('plan', ...inNamespace)).toEqual({
      code: 0,
      stdout: `No plan is pending or only planned in ${space.namespace}.\n`,
      stderr: '',
    })
    await space.apply(acme(['shop']))
    const { status } = await space.waitForReady(acme([]), 'False', 'PendingApproval')
    const pending = await kubectlRegent('plan', 'acme', ...inNamespace)
    expect(pending.code).toBe(3)
    expect(pending.stdout).toContain(`The plan ${status.plan.id} is pending approval`)
    expect(pending.stdout).toMatch(/^ *- client "?stock/m)
    expect(pending.stdout).toContain(
      `Approve it with: kubectl regent approve realm/acme -n ${space.namespace} --plan ${status.plan.id}`,
    )
    const refused = await kubectlRegent('approve', 'acme', ...inNamespace, '--plan', 'other')
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`is now ${status.plan.id}, not other`) })
    const approved = await kubectlRegent('approve', 'realm/acme', ...inNamespace, '--plan', status.plan.id)
    expect(approved).toEqual({
      code: 0,
      stdout: `Approved the plan ${status.plan.id} of realm/acme -n ${space.namespace}.\nApplied: The declared state is live.\n`,
      stderr: '',
    })
    const { status: after } = await space.waitForReady(acme([]), 'True')
    expect(after.plan.changes).toBeUndefined()
  })

  test('plan prints what mode: plan would do, and names of other kinds and missing resources are errors', async () => {
    const space = await createNamespace(setup.kubernetes)
    const acme = resource('Realm', 'acme', { realm: newName(), mode: 'plan', displayName: 'Acme' })
    await space.apply(acme)
    await space.waitForReady(acme, 'False', 'Planned')
    const { code, stdout } = await kubectlRegent('plan', '-n', space.namespace)
    expect(code).toBe(0)
    expect(stdout).toContain('The mode is plan: an apply would create 1')
    expect(stdout).toContain('displayName')
    expect((await kubectlRegent('plan', 'client/x')).stderr).toContain('Use a Realm or a RealmSource')
    expect((await kubectlRegent('plan', 'none', '-n', space.namespace)).stderr).toContain('"none" not found')
    expect((await kubectlRegent('approve', 'acme', '-n', space.namespace)).stderr).toContain('has no plan')
  })
})
