// Documents that SOPS has encrypted with age. The files in ./encrypted were written by SOPS 3.11.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAgeKeys } from '../../src/realm-file/age-keys.ts'
import { decryptDocuments } from '../../src/realm-file/decrypt-documents.ts'
import { parseRealm } from '../../src/realm-file/parse-realm.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'

const folder = join(import.meta.dirname, 'encrypted')
const readText = (name: string) => readFile(join(folder, name), 'utf8')
const [firstKey, secondKey] = await Promise.all(
  ['key-1.txt', 'key-2.txt'].map(async (name) => parseAgeKeys(name, await readText(name))),
)

const decrypt = (file: string, text: string, keys = firstKey!) =>
  decryptDocuments({ file, text, documents: parseDocuments(file, text) }, async () => keys)

/** Decrypts a recorded file after a change, and returns its error. */
async function failWith(file: string, change: (text: string) => string): Promise<string> {
  const text = await readText(file)
  const changed = change(text)
  expect(changed).not.toBe(text)
  return decrypt(file, changed).then(
    () => 'it was decrypted',
    (error: Error) => error.message,
  )
}

const TYPED = {
  realm: 'typed',
  displayName: 'Grüße, 世界',
  accessTokenLifespan: 300,
  enabled: true,
  registrationAllowed: false,
  displayNameHtml: null,
  loginTheme: '',
  attributes: {
    float: 1.5,
    large: 12.5e21,
    date: '2020-01-01T00:00:00Z',
    time: '2020-01-01T10:00:00.5Z',
    binary: 'hello',
    octal: 493,
    note_unencrypted: 'plain text',
    block: 'first\nsecond\n',
  },
  defaults: { color: 'red' },
  merged: { color: 'red' },
  clients: [
    {
      clientId: 'web',
      secret: 's3cret-web',
      redirectUris: ['https://one.example.com/*', 'https://two.example.com/*'],
    },
  ],
}

test('values of every type in several documents are decrypted, without comments and the sops block', async () => {
  const documents = await decrypt('values.yaml', await readText('values.yaml'))
  expect(documents.map(({ value }) => value)).toEqual([TYPED, { realm: 'second', accessTokenLifespan: 60 }])
  expect(documents.map(({ header }) => header.realm)).toEqual(['typed', 'second'])
})

test('fields of a decrypted document have their positions in the encrypted file, behind comments in lists too', async () => {
  const text = await readText('values.yaml')
  const [document] = await decrypt('values.yaml', text)
  const { line } = document!.locate(['clients', 0, 'redirectUris', 1])
  expect(text.split('\n').slice(line - 3, line)).toEqual([
    expect.stringContaining('type:comment]'),
    expect.stringContaining('type:str]'),
    expect.stringContaining('type:str]'),
  ])
  expect(document!.isEncrypted(['clients'])).toBe(true)
  expect(document!.isEncrypted(['clients', 0, 'redirectUris', 1])).toBe(true)
  expect(document!.isEncrypted(['attributes', 'note_unencrypted'])).toBe(false)
  expect(document!.isFromVariable(['clients', 0, 'secret'])).toBe(true)
})

test('values in JSON are decrypted', async () => {
  const [document] = await decrypt('values.json', await readText('values.json'))
  expect(document!.value).toEqual({
    ...{ realm: 'typed', displayName: 'Grüße', accessTokenLifespan: 300, enabled: true },
    ...{ displayNameHtml: null, loginTheme: '', attributes: { float: 1.5, large: 1e22, small: 1.5e-7 } },
    clients: [{ clientId: 'web', secret: 's3cret-web', redirectUris: ['https://one.example.com/*'] }],
  })
})

test.each(['regex.yaml', 'mac-only.yaml', 'complete.yaml', 'unencrypted-regex.json'])(
  'the values of %s are decrypted by its rule',
  async (file) => {
    const [document] = await decrypt(file, await readText(file))
    expect(document!.value).toMatchObject({
      ...{ realm: 'shop', displayName: 'Shop', accessTokenLifespan: 300 },
      attributes: { float: 12.5e21, time: expect.stringContaining('2020-01-01T10:00:00Z'), enabled: true },
      clients: [
        { clientId: 'web', enabled: true, secret: 's3cret-web' },
        { clientId: 'app', secret: 's3cret-app' },
      ],
      smtpServer: { host: 'mail.example.com', auth: true, password: 's3cret-mail' },
    })
  },
)

test('each of several recipients decrypts the file, and no other key does', async () => {
  const text = await readText('regex.yaml')
  for (const keys of [firstKey!, secondKey!, [...secondKey!, ...firstKey!]])
    expect((await decrypt('regex.yaml', text, keys))[0]!.value).toMatchObject({ realm: 'shop' })
  const complete = await readText('complete.yaml')
  await expect(decrypt('complete.yaml', complete, secondKey)).rejects.toThrow(
    /^complete.yaml:\d+:1: no key that is set decrypts the file: it is encrypted for age1\w+$/,
  )
  await expect(decrypt('complete.yaml', complete, [])).rejects.toThrow(
    /^complete.yaml:\d+:1: the file is encrypted for age1\w+, and no key is set: pass it with --age-key-file/,
  )
})

const swapSecrets = (text: string) => {
  const [first, second] = text.match(/(?<=secret: )ENC.*/g)!
  return text.replace(first!, 'SWAPPED').replace(second!, first!).replace('SWAPPED', second!)
}

/** Changes of recorded files, and the beginning of the error. */
const CHANGES: readonly (readonly [string, string, (text: string) => string, string | RegExp])[] = [
  [
    'a changed value',
    'regex.yaml',
    (text) => text.replace(/(password: ENC\[AES256_GCM,data:)../, '$1AA'),
    'regex.yaml:21:15: smtpServer.password cannot be decrypted',
  ],
  [
    'a shorter tag',
    'regex.yaml',
    (text) => text.replace(/(password: .*tag:)[^,]*/, '$1AAAA'),
    'regex.yaml:21:15: smtpServer.password cannot be decrypted',
  ],
  [
    'an unknown type',
    'regex.yaml',
    (text) => text.replace(/(password: .*type:)str/, '$1text'),
    'regex.yaml:21:15: smtpServer.password cannot be decrypted',
  ],
  [
    'a value at another path',
    'regex.yaml',
    (text) => text.replace(/password: (.*)/, (_, value) => `password: ${/(?<=secret: ).*/.exec(text)?.[0] ?? value}`),
    'regex.yaml:21:15: smtpServer.password cannot be decrypted',
  ],
  [
    'two values of equal paths that are swapped',
    'regex.yaml',
    swapSecrets,
    /^regex.yaml:\d+:5: the MAC does not match/,
  ],
  [
    'a plain value that is changed',
    'regex.yaml',
    (text) => text.replace('accessTokenLifespan: 300', 'accessTokenLifespan: 301'),
    /^regex.yaml:\d+:5: the MAC does not match/,
  ],
  [
    'an added value',
    'regex.yaml',
    (text) => text.replace('displayName', 'enabled: true\ndisplayName'),
    /^regex.yaml:\d+:5: the MAC does not match/,
  ],
  [
    'a removed value',
    'values.json',
    (text) => text.replace(/.*"loginTheme".*\n|.*"float".*\n/g, ''),
    /^values.json:\d+:5: the MAC does not match/,
  ],
  [
    'a MAC of another file',
    'complete.yaml',
    (text) => text.replace(/mac: ENC\[AES256_GCM,data:../, 'mac: ENC[AES256_GCM,data:AA'),
    /^complete.yaml:\d+:5: the MAC does not match/,
  ],
  [
    'another time in the sops block',
    'complete.yaml',
    (text) => text.replace(/lastmodified: "20../, 'lastmodified: "2000'),
    /^complete.yaml:\d+:5: the MAC does not match/,
  ],
  [
    'no MAC',
    'complete.yaml',
    (text) => text.replace(/ {4}mac: .*\n/, ''),
    /^complete.yaml:\d+:1: the sops block has no mac or no lastmodified/,
  ],
  [
    'a value in plain text',
    'regex.yaml',
    (text) => text.replace(/password: .*/, 'password: changed'),
    'regex.yaml:21:15: the value is not encrypted, and the rule of the file (encrypted_regex: ^(secret|password)$) covers it',
  ],
  [
    'a number in plain text',
    'complete.yaml',
    (text) => text.replace(/accessTokenLifespan: .*/, 'accessTokenLifespan: 1'),
    /^complete.yaml:4:22: the value is not encrypted/,
  ],
  [
    'an encrypted value that the rule does not cover',
    'regex.yaml',
    (text) => text.replace('displayName: Shop', `displayName: ${/(?<=secret: ).*/.exec(text)?.[0]}`),
    'regex.yaml:3:14: the value is encrypted, and the rule of the file',
  ],
  [
    'an alias',
    'regex.yaml',
    (text) => text.replace('displayName: Shop', 'displayName: &name Shop\ndisplayNameHtml: *name'),
    'regex.yaml:4:18: an encrypted file must not have aliases',
  ],
  [
    'a document without a sops block',
    'regex.yaml',
    (text) => `${text}---\nrealm: other\n`,
    /^regex.yaml:\d+:1: the document has no sops block, though the file has one at line \d+/,
  ],
  [
    'key groups',
    'regex.yaml',
    (text) => text.replace('sops:\n', 'sops:\n    shamir_threshold: 2\n'),
    /^regex.yaml:\d+:5: key groups of SOPS are not supported/,
  ],
  [
    'rules of comments',
    'regex.yaml',
    (text) => text.replace('encrypted_regex: ', 'encrypted_comment_regex: '),
    /^regex.yaml:\d+:5: encrypted_comment_regex is not supported/,
  ],
  [
    'another key service',
    'complete.yaml',
    (text) => text.replace('    age:', '    pgp: []\n    other:'),
    /^complete.yaml:\d+:1: PGP of SOPS cannot be used here: add an age recipient/,
  ],
  [
    'an expression that JavaScript does not have',
    'regex.yaml',
    (text) => text.replace(/encrypted_regex: .*/, "encrypted_regex: '[[:alpha:]]'"),
    /^regex.yaml:\d+:5: encrypted_regex is no regular expression that is supported here/,
  ],
]

test.each(CHANGES)('a file with %s is refused', async (_title, file, change, message) => {
  const error = await failWith(file, change)
  if (typeof message === 'string') expect(error.slice(0, message.length)).toBe(message)
  else expect(error).toMatch(message)
  expect(error).not.toContain('s3cret')
})

test('plain values may change where the MAC is over encrypted values only', async () => {
  const text = await readText('mac-only.yaml')
  const [document] = await decrypt('mac-only.yaml', text.replace('displayName: Shop', 'displayName: New'))
  expect(document!.value).toMatchObject({ displayName: 'New', smtpServer: { password: 's3cret-mail' } })
})

test('an encrypted value in a document without a sops block is refused at its line', async () => {
  const text = (await readText('regex.yaml')).replace(/^sops:[\s\S]*/m, '')
  const [document] = await decrypt('regex.yaml', text)
  expect(() => parseRealm(document!)).toThrow(
    /^regex.yaml:13:7: the value is encrypted by SOPS, and the document has no sops block: encrypt the whole file with sops/,
  )
})

test('a key that is not one of age is refused without being shown', async () => {
  expect(() => parseAgeKeys('keys', '# comment\n\nAGE-SECRET-KEY-1ABC\nsecret-text')).toThrow(
    'keys, line 4, is no secret key of age: write a line with AGE-SECRET-KEY-…',
  )
  expect(() => parseAgeKeys('keys', 'AGE-PLUGIN-YUBIKEY-1ABC')).toThrow(
    'is a key of a plugin of age, which is not supported',
  )
  const text = await readText('complete.yaml')
  await expect(decrypt('complete.yaml', text, ['AGE-SECRET-KEY-1ABC'])).rejects.toThrow(
    /: a secret key of age is not valid/,
  )
})
