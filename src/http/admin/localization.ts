import * as z from 'zod'
import { textMap } from '../../kinds/fields.ts'
import { getBuiltInTexts } from '../../oidc/pages/localize.ts'
import {
  deleteText,
  deleteTexts,
  getEffectiveTexts,
  getText,
  getTexts,
  type LocalizationTexts,
  listLocales,
  setTexts,
} from '../../service/admin-api/realms/localization.ts'
import { type BodyForm, readBody } from '../body.ts'
import { HttpError, notFound } from '../errors.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { type Answer, type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { queryFlag } from '../query.ts'
import { badRequest, errorResponses, noContentResponse } from '../responses.ts'
import { findFile } from '../uploads.ts'

const texts = z.record(z.string(), z.string())
const body: BodyForm = { schema: textMap('').schema, description: 'Texts by key.' }
const common = { permission: 'manage-realm', event: false } as const

const locale = (call: Call) => getParameter(call, 'locale')

/** The operations on localization texts of pages and emails. */
export const localizationOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'listLocales',
    method: 'GET',
    path: '/admin/realms/{realm}/localization',
    summary: 'List the locales with localization texts',
    permission: 'see-realm',
    responses: { 200: { description: 'The locales.', schema: z.array(z.string()) }, ...errorResponses },
    handle: readHandler(listLocales),
  },
  {
    operationId: 'getLocalizationTexts',
    method: 'GET',
    path: '/admin/realms/{realm}/localization/{locale}',
    summary: 'Get the localization texts of a locale',
    permission: 'see-realm',
    query: z.object({
      useRealmDefaultLocaleFallback: queryFlag.meta({
        description: 'Whether texts of the default locale replace missing ones. Default: false.',
        deprecated: true,
      }),
    }),
    responses: { 200: { description: 'Texts by key.', schema: texts }, ...errorResponses },
    handle: readHandler((context, call) =>
      getTexts(context, locale(call), call.query.useRealmDefaultLocaleFallback === true),
    ),
  },
  {
    ...common,
    operationId: 'setLocalizationTexts',
    method: 'POST',
    path: '/admin/realms/{realm}/localization/{locale}',
    summary: 'Import localization texts for a locale, as JSON or a file',
    body,
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler(async (context, call) => setTexts(context, locale(call), await sentTexts(call))),
  },
  {
    ...common,
    operationId: 'deleteLocalizationTexts',
    method: 'DELETE',
    path: '/admin/realms/{realm}/localization/{locale}',
    summary: 'Delete the localization texts of a locale',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteTexts(context, locale(call))),
  },
  {
    operationId: 'getLocalizationText',
    method: 'GET',
    path: '/admin/realms/{realm}/localization/{locale}/{key}',
    summary: 'Get a localization text',
    permission: 'see-realm',
    responses: { 200: { description: 'The text.', schema: z.string(), plain: true }, ...errorResponses },
    handle: async (call) => {
      const work = async (context: Parameters<typeof getText>[0]) =>
        getText(context, locale(call), getParameter(call, 'key'))
      return {
        status: 200,
        body: await call.service.read(call.caller, getParameter(call, 'realm'), work),
        type: 'text/plain',
      }
    },
  },
  {
    ...common,
    operationId: 'setLocalizationText',
    method: 'PUT',
    path: '/admin/realms/{realm}/localization/{locale}/{key}',
    summary: 'Set a localization text',
    body: { schema: z.string(), description: 'The text.', plain: true },
    responses: { ...noContentResponse, ...errorResponses, ...badRequest },
    handle: writeHandler((context, call) =>
      setTexts(context, locale(call), { [getParameter(call, 'key')]: call.body as string }),
    ),
  },
  {
    ...common,
    operationId: 'deleteLocalizationText',
    method: 'DELETE',
    path: '/admin/realms/{realm}/localization/{locale}/{key}',
    summary: 'Delete a localization text',
    responses: { ...noContentResponse, ...errorResponses },
    handle: writeHandler((context, call) => deleteText(context, locale(call), getParameter(call, 'key'))),
  },
])

const effectiveText = z.object({
  key: z.string().describe('Key of the text.'),
  value: z.string().describe('The text.'),
  source: z
    .enum(['REALM', 'THEME'])
    .optional()
    .describe('Whether the text is of the realm. Present if `source` is true.'),
})

const themeTexts = {
  permission: 'any',
  isPublic: true,
  method: 'GET',
  query: z.object({
    theme: z.string().optional().describe('Name of the theme. Ignored: all themes have the same texts.'),
    source: queryFlag.describe('Whether each text has its source. Default: false.'),
  }),
  responses: { 200: { description: 'The texts.', schema: z.array(effectiveText) }, ...errorResponses },
} as const

/** The operations on the texts of themes, with which the admin console loads its own. */
export const themeTextOperations: Operation[] = tagged('Realms Admin', [
  {
    ...themeTexts,
    operationId: 'listConsoleTexts',
    path: '/resources/{realm}/admin/{locale}',
    summary: 'List the texts of the admin console, with the localization texts of a realm',
    description: "Without Keycloak's admin console, the server has the texts of the realm only.",
    handle: (call) => listThemeTexts(call, 'admin'),
  },
  {
    ...themeTexts,
    operationId: 'listThemeTexts',
    path: '/resources/{realm}/{themeType}/{locale}',
    summary: 'List the texts of a theme type, with the localization texts of a realm',
    description: "The texts of `login` and `email` are Regent's. Other types have the texts of the realm only.",
    handle: (call) => listThemeTexts(call, getParameter(call, 'themeType')),
  },
])

async function listThemeTexts(call: Call, type: string): Promise<Answer> {
  if (!THEME_TYPES.has(type)) throw notFound()
  const getThemeTexts = (tag: string) => findThemeTexts(call, type, tag)
  const texts = await call.service.read(call.caller, getParameter(call, 'realm'), (context) =>
    getEffectiveTexts(context, locale(call), getThemeTexts),
  )
  const hasSource = call.query.source === true
  return {
    status: 200,
    body: [...texts].map(([key, { value, source }]) => (hasSource ? { key, value, source } : { key, value })),
  }
}

const THEME_TYPES: ReadonlySet<string> = new Set(['account', 'admin', 'common', 'email', 'login', 'welcome'])

function findThemeTexts({ adminTexts }: Call, type: string, locale: string): LocalizationTexts {
  if (type === 'admin') return Object.fromEntries(adminTexts?.(locale) ?? [])
  return type === 'email' || type === 'login' ? getBuiltInTexts(type, locale) : {}
}

async function sentTexts(call: Call): Promise<Record<string, string | null>> {
  const parts = await call.parts()
  if (!parts) return call.body as Record<string, string | null>
  const file = findFile(parts)
  if (!file) throw new HttpError(400, { error: 'HTTP 400 Bad Request' })
  const unreadable = { ...body, refusal: 'Could not read file.' }
  return readBody(Buffer.from(await file.arrayBuffer()), unreadable) as Record<string, string | null>
}
