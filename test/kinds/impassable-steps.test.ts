// The step because of which nobody can pass a flow, for each form of nesting.
import { describe, expect, test } from 'vitest'
import { findImpassableClientStep, findImpassableStep } from '../../src/kinds/effects/find-impassable-step.ts'
import type { Representation } from '../../src/kinds/json.ts'

type Steps = readonly Representation[]

const step = (requirement: string, authenticator: string): Representation => ({ requirement, authenticator })
const subflow = (requirement: string, flowAlias = 'sub'): Representation => ({ requirement, flowAlias })
const required = (authenticator: string) => step('REQUIRED', authenticator)
const alternative = (authenticator: string) => step('ALTERNATIVE', authenticator)
const password = required('auth-username-password-form')
const webauthn = required('webauthn-authenticator')
const x509 = required('auth-x509-client-username-form')
const configured = required('conditional-user-configured')
const hasRole = required('conditional-user-role')

/** Returns `flow authenticator` of the step because of which nobody can pass the flow `top`. */
function find(top: Steps, sub: Steps = [], deep: Steps = []): string | undefined {
  const flows = new Map(Object.entries({ top, sub, deep }))
  const impassable = findImpassableStep('top', flows)
  return impassable && `${impassable.flow} ${impassable.authenticator}`
}

const impassable: Record<string, [expected: string, top: Steps, sub?: Steps, deep?: Steps]> = {
  'a required step': ['top webauthn-authenticator', [password, webauthn]],
  'a custom authenticator': ['top acme-step', [required('acme-step'), password]],
  'a step without a requirement': ['top acme-step', [{ authenticator: 'acme-step' }]],
  'a step in a required subflow': ['sub webauthn-authenticator', [password, subflow('REQUIRED')], [webauthn]],
  'a step in a subflow of a subflow': [
    'deep webauthn-authenticator',
    [subflow('REQUIRED')],
    [password, subflow('REQUIRED', 'deep')],
    [webauthn],
  ],
  'the only alternative besides the session': [
    'sub webauthn-authenticator',
    [alternative('auth-cookie'), alternative('identity-provider-redirector'), subflow('ALTERNATIVE')],
    [password, webauthn],
  ],
  'all alternatives': [
    'top webauthn-authenticator',
    [alternative('webauthn-authenticator'), alternative('auth-recovery-authn-code-form')],
  ],
  'an alternative that no user skips, before others': [
    'top auth-spnego',
    [alternative('auth-cookie'), alternative('auth-spnego'), alternative('auth-username-password-form')],
  ],
  'a required subflow of alternatives': [
    'sub webauthn-authenticator',
    [password, subflow('REQUIRED')],
    [alternative('webauthn-authenticator')],
  ],
  'an alternative subflow beside an organization': [
    'deep webauthn-authenticator',
    [alternative('auth-cookie'), subflow('ALTERNATIVE'), subflow('ALTERNATIVE', 'deep')],
    [configured, alternative('organization')],
    [password, webauthn],
  ],
  'the first condition of a subflow': [
    'sub conditional-client-scope',
    [password, subflow('CONDITIONAL')],
    [required('conditional-client-scope'), required('auth-otp-form')],
  ],
  'a step of a subflow whose condition all users meet': [
    'sub auth-conditional-otp-form',
    [password, subflow('CONDITIONAL')],
    [configured, required('auth-conditional-otp-form')],
  ],
  'a conditional subflow without other steps': [
    'sub webauthn-authenticator',
    [subflow('CONDITIONAL')],
    [hasRole, webauthn],
  ],
  'an action of a form': [
    'sub registration-recaptcha-action',
    [{ ...subflow('REQUIRED'), authenticator: 'registration-page-form' }],
    [required('registration-user-creation'), required('registration-recaptcha-action')],
  ],
}

const passable: Record<string, [top: Steps, sub?: Steps]> = {
  'no step is unsupported': [[alternative('auth-cookie'), subflow('ALTERNATIVE')], [password]],
  'the step is disabled': [[password, step('DISABLED', 'webauthn-authenticator')]],
  'its subflow is disabled': [[password, subflow('DISABLED')], [webauthn]],
  'the step is ignored beside a required one': [[password, alternative('auth-spnego')]],
  'another alternative comes first': [[alternative('auth-username-password-form'), alternative('auth-spnego')]],
  'users without a passkey skip the alternative': [
    [password, subflow('REQUIRED')],
    [alternative('webauthn-authenticator'), alternative('auth-otp-form')],
  ],
  'its condition is not met by users without a passkey': [
    [password, subflow('CONDITIONAL')],
    [configured, webauthn],
  ],
  'its condition is not met by users without a role': [
    [password, subflow('CONDITIONAL')],
    [hasRole, x509],
  ],
  'an unsupported condition is only reached by some': [
    [password, subflow('CONDITIONAL')],
    [hasRole, required('conditional-client-scope'), required('auth-otp-form')],
  ],
  'its conditional subflow has no condition': [[password, subflow('CONDITIONAL')], [webauthn]],
  'an action of a form is disabled': [
    [{ ...subflow('REQUIRED'), authenticator: 'registration-page-form' }],
    [required('registration-user-creation'), step('DISABLED', 'registration-recaptcha-action')],
  ],
  'access is denied on purpose': [[required('deny-access-authenticator'), webauthn]],
  'the flow contains itself': [[subflow('REQUIRED', 'top'), password]],
  'the flow is empty': [[]],
}

test.each(Object.entries(impassable))('nobody passes a flow because of %s', (_, [expected, ...flows]) => {
  expect(find(...flows)).toBe(expected)
})

test.each(Object.entries(passable))('a flow does not count as impassable if %s', (_, flows) => {
  expect(find(...flows)).toBeUndefined()
})

describe('a client authentication flow', () => {
  test.each<[string, Steps, string | undefined]>([
    ['nobody passes with unsupported alternatives', [alternative('attest-jwt'), alternative('other')], 'attest-jwt'],
    ['clients pass with one supported alternative', [alternative('attest-jwt'), alternative('client-jwt')], undefined],
    [
      'nobody passes if the first required step is unsupported',
      [required('attest-jwt'), required('client-jwt')],
      'attest-jwt',
    ],
    [
      'clients pass with a disabled unsupported step',
      [step('DISABLED', 'attest-jwt'), alternative('client-jwt')],
      undefined,
    ],
  ])('%s', (_, steps, expected) => {
    expect(findImpassableClientStep('clients', new Map([['clients', steps]]))?.authenticator).toBe(expected)
  })
})
