// The policies for passwords that a realm can state: facts only.

/** What a policy takes: a number, a text, or nothing; and what it is where the realm does not say. */
export type PolicyValue =
  | { readonly type: 'number'; readonly usual: number }
  | { readonly type: 'text'; readonly usual?: string }
  | { readonly type: 'none' }

/** The policies by name, with what people call them. Keycloak: of those that a password breaks, the first in this order is told. */
export const passwordPolicies = {
  notContainsUsername: { label: 'Not Contains Username', type: 'none' },
  forceExpiredPasswordChange: { label: 'Expire Password', type: 'number', usual: 365 },
  hashIterations: { label: 'Hashing Iterations', type: 'number', usual: -1 },
  specialChars: { label: 'Special Characters', type: 'number', usual: 1 },
  recoveryCodesWarningThreshold: { label: 'Recovery Codes Warning Threshold', type: 'number', usual: 4 },
  passwordHistory: { label: 'Not Recently Used', type: 'number', usual: 3 },
  upperCase: { label: 'Uppercase Characters', type: 'number', usual: 1 },
  passwordBlacklist: { label: 'Password Blacklist', type: 'text', usual: '' },
  lowerCase: { label: 'Lowercase Characters', type: 'number', usual: 1 },
  length: { label: 'Minimum Length', type: 'number', usual: 8 },
  regexPattern: { label: 'Regular Expression', type: 'text' },
  notUsername: { label: 'Not Username', type: 'none' },
  digits: { label: 'Digits', type: 'number', usual: 1 },
  maxAuthAge: { label: 'Maximum Authentication Age', type: 'number', usual: 300 },
  hashAlgorithm: { label: 'Hashing Algorithm', type: 'text' },
  maxLength: { label: 'Maximum Length', type: 'number', usual: 64 },
  notEmail: { label: 'Not Email', type: 'none' },
  passwordAge: { label: 'Not Recently Used (In Days)', type: 'number', usual: 30 },
} as const satisfies Readonly<Record<string, PolicyValue & { readonly label: string }>>

/** The name of a policy. */
export type PolicyName = keyof typeof passwordPolicies
