// The password policies that a realm can use.

/** The type of the value of a password policy, with its default. */
export type PasswordPolicyValue =
  | { readonly type: 'number'; readonly default: number }
  | { readonly type: 'text'; readonly default?: string }
  | { readonly type: 'none' }

/** The policies by name, with their display names. Keycloak: reports only the first violation, in this order. */
export const passwordPolicies = {
  notContainsUsername: { label: 'Not Contains Username', type: 'none' },
  forceExpiredPasswordChange: { label: 'Expire Password', type: 'number', default: 365 },
  hashIterations: { label: 'Hashing Iterations', type: 'number', default: -1 },
  specialChars: { label: 'Special Characters', type: 'number', default: 1 },
  recoveryCodesWarningThreshold: { label: 'Recovery Codes Warning Threshold', type: 'number', default: 4 },
  passwordHistory: { label: 'Not Recently Used', type: 'number', default: 3 },
  upperCase: { label: 'Uppercase Characters', type: 'number', default: 1 },
  passwordBlacklist: { label: 'Password Blacklist', type: 'text', default: '' },
  lowerCase: { label: 'Lowercase Characters', type: 'number', default: 1 },
  length: { label: 'Minimum Length', type: 'number', default: 8 },
  regexPattern: { label: 'Regular Expression', type: 'text' },
  notUsername: { label: 'Not Username', type: 'none' },
  digits: { label: 'Digits', type: 'number', default: 1 },
  maxAuthAge: { label: 'Maximum Authentication Age', type: 'number', default: 300 },
  hashAlgorithm: { label: 'Hashing Algorithm', type: 'text' },
  maxLength: { label: 'Maximum Length', type: 'number', default: 64 },
  notEmail: { label: 'Not Email', type: 'none' },
  passwordAge: { label: 'Not Recently Used (In Days)', type: 'number', default: 30 },
} as const satisfies Readonly<Record<string, PasswordPolicyValue & { readonly label: string }>>

/** The name of a password policy. */
export type PasswordPolicyName = keyof typeof passwordPolicies
