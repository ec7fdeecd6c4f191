// The policies for passwords that a realm can state: facts only.

/** What a policy takes: a number, a text, or nothing; and what it is where the realm does not say. */
export type PolicyValue =
  | { readonly type: 'number'; readonly usual: number }
  | { readonly type: 'text'; readonly usual?: string }
  | { readonly type: 'none' }

/** The policies by name. Keycloak: of those that a password breaks, the first in this order is told. */
export const passwordPolicies = {
  notContainsUsername: { type: 'none' },
  forceExpiredPasswordChange: { type: 'number', usual: 365 },
  hashIterations: { type: 'number', usual: -1 },
  specialChars: { type: 'number', usual: 1 },
  recoveryCodesWarningThreshold: { type: 'number', usual: 4 },
  passwordHistory: { type: 'number', usual: 3 },
  upperCase: { type: 'number', usual: 1 },
  passwordBlacklist: { type: 'text', usual: '' },
  lowerCase: { type: 'number', usual: 1 },
  length: { type: 'number', usual: 8 },
  regexPattern: { type: 'text' },
  notUsername: { type: 'none' },
  digits: { type: 'number', usual: 1 },
  maxAuthAge: { type: 'number', usual: 300 },
  hashAlgorithm: { type: 'text' },
  maxLength: { type: 'number', usual: 64 },
  notEmail: { type: 'none' },
  passwordAge: { type: 'number', usual: 30 },
} as const satisfies Readonly<Record<string, PolicyValue>>

/** The name of a policy. */
export type PolicyName = keyof typeof passwordPolicies
