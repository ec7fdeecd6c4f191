// Settings whose texts have a form that takes effect: other texts are noted.
import { expect, test } from 'vitest'
import { listUnenforced } from '../../src/kinds/effects/find-unenforced.ts'
import { effects } from '../../src/kinds/effects/index.ts'
import { settingForms } from '../../src/kinds/effects/setting-forms.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KindName } from '../../src/kinds/kind.ts'

const settings = Object.entries(settingForms).flatMap(([kind, forms]) =>
  Object.keys(forms).map((path): [KindName, string] => [kind as KindName, path]),
)

const find = (kind: KindName, path: string, text: string) => listUnenforced(kinds[kind], [[path, text]])

test.each(settings)('of a %s, a text of %s in another form is noted, and the setting is enforced', (kind, path) => {
  const { effect, reason } = settingForms[kind]![path]!
  expect(find(kind, path, 'in another form')).toEqual([{ field: path, path, effect, reason }])
  expect(effects[kind][path]).toMatchObject({ effect: 'enforced' })
})

test.each([
  ['client', 'attributes.dpop.bound.access.tokens', ['true', 'True', 'false', ''], ['yes', '1', 'true ']],
  ['protocolMapper', 'config.id.token.claim', ['true', 'false'], ['True']],
  ['client', 'attributes.access.token.lifespan', ['60', '-1', '0'], ['5m', '60.5', ' 60 ']],
  ['client', 'attributes.pkce.code.challenge.method', ['S256', 'plain'], ['s256']],
  ['client', 'attributes.id.token.signed.response.alg', ['RS256', 'EdDSA', 'HS512'], ['RS255', 'none']],
  ['client', 'attributes.request.object.signature.alg', ['any', 'none', 'ES256'], ['ES255']],
  ['realm', 'attributes.frontendUrl', ['https://sso.example.com', 'http://localhost:8080/auth'], ['sso.example.com']],
  ['realm', 'attributes.acr.loa.map', ['{"gold":2}', '{}', '{"gold":"2"}'], ['{', '[]', '{"gold":"high"}']],
  ['authorizationPolicy', 'config.nbf', ['2026-11-28 09:30:00', '2026-11-28'], ['soon', '28.11.2026']],
] as const)(
  'of a %s, a text of %s takes effect in these forms: %j, and not in these: %j',
  (kind, path, valid, other) => {
    const isNoted = (text: string) => find(kind, path, text).length > 0
    expect(valid.filter(isNoted)).toEqual([])
    expect(other.filter((text) => !isNoted(text))).toEqual([])
  },
)
