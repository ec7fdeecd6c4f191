// A new realm for each test of a file, and functions to plan, apply and export documents of that realm.
import { beforeEach } from 'vitest'
import type { KindName } from '../../src/kinds/kind.ts'
import { exportRealm } from '../../src/realm-file/export/export-realm.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from './live-objects.ts'
import { newName, newRealm, testService } from './service.ts'
import { applySource, createSource, planText } from './sources.ts'

/** The service, and the realm of the current test. */
export let service: Service
export let realm: string

/** Creates a realm before each test of the calling file. */
export function useNewRealmPerTest(): void {
  beforeEach(async () => {
    service = (await testService()).service
    realm = await newRealm(service)
  })
}

/** Chooses the name of a new realm before each test of the calling file. The test creates the realm. */
export function useNewRealmNamePerTest(): void {
  beforeEach(async () => {
    service = (await testService()).service
    realm = newName()
  })
}

/** Switches to another realm: a new one, or the named one, which need not exist. */
export async function switchRealm(name?: string): Promise<void> {
  realm = name ?? (await newRealm(service))
}

/** Returns a source with documents of the realm. */
export const toRealmSource = (...documents: object[]) =>
  createSource(
    documents.map((document) => ({ realm, ...document })),
    realm,
  )
/** Applies a document of the realm. */
export const apply = (document: object) => applySource(service, toRealmSource(document))
/** Returns the text of the plan for a document of the realm. */
export const plan = (document: object) => planText(service, toRealmSource(document))
/** Exports the realm. */
export const exportDocument = (options: Parameters<typeof exportRealm>[1] = {}) =>
  service.read(SYSTEM, realm, (context) => exportRealm(context, options))
/** Returns a live object of the realm. */
export const getLive = (kind: KindName, ...key: string[]) => getLiveObject(service, SYSTEM, realm, kind, ...key)
/** Returns the secret of a client of the realm, in plain text. */
export const readClientSecret = async (clientId: string) =>
  service.vault.open(String((await getLive('client', clientId)).representation.secret))
