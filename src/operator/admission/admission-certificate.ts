// The certificate of the admission webhook, where no other software issues one: made by a replica, kept in a Secret, trusted by the
// webhook configuration, and replaced before it expires.
import { generateKeyPair, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import forge from 'node-forge'
import type { CertificatePair } from '../../http/server/secure-server.ts'
import { type ClusterClient, ClusterError } from '../cluster/cluster-client.ts'
import { type ApiObject, type Resource, readSecretText, toSecretData } from '../cluster/resource.ts'

/** The name of a service. */
interface ServiceName {
  readonly namespace: string
  readonly name: string
}

/** A ValidatingWebhookConfiguration. */
interface WebhookConfiguration extends ApiObject {
  readonly webhooks?: readonly {
    readonly clientConfig: { readonly service?: ServiceName; readonly caBundle?: string }
  }[]
}

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const DAY = 24 * 3600 * 1000
/** Milliseconds for which a certificate is valid, and before its end when it is replaced. */
const [LIFETIME, MIN_REMAINING] = [90 * DAY, 30 * DAY]
/** Milliseconds by which the clocks of machines may differ. */
const CLOCK_TOLERANCE = 3600 * 1000
/** Key of a Secret with the certificates that the API server trusts: the current one, and the one before. */
const TRUSTED = 'ca.crt'
const generate = promisify(generateKeyPair)

/**
 * Returns the certificate of the service of a webhook configuration. Makes it if there is none or it ends soon, and lets the API server
 * trust it before a replica uses it. Throws if the cluster refuses; ClusterError 409 or 422 if another replica has made one meanwhile.
 *
 * `clock` returns the current time.
 */
export async function readAdmissionCertificate(
  client: ClusterClient,
  configurationName: string,
  clock: () => Date,
): Promise<CertificatePair> {
  const path = `${CONFIGURATIONS}/${configurationName}`
  const configuration = await client.request<WebhookConfiguration>('GET', path)
  const service = configuration.webhooks?.[0]?.clientConfig.service
  if (!service) throw new Error(`The ValidatingWebhookConfiguration ${configurationName} names no service.`)
  const secret = await readSecret(client, service)
  const current = secret && readPair(secret)
  const trust = (certificates: string) => trustCertificates(client, configuration, certificates)
  if (current && isValid(current, service, clock())) {
    await trust(readSecretText(secret, TRUSTED) ?? current.cert)
    return current
  }
  const created = await createCertificate(service, clock())
  const trusted = created.cert + (current?.cert ?? '')
  await trust(trusted)
  const texts = { 'tls.crt': created.cert, 'tls.key': created.key, [TRUSTED]: trusted }
  await writeSecret(client, toSecret(service, secret, texts))
  return created
}

async function readSecret(client: ClusterClient, { namespace, name }: ServiceName): Promise<Resource | undefined> {
  try {
    return await client.request<Resource>('GET', `/api/v1/namespaces/${namespace}/secrets/${name}`)
  } catch (error) {
    if (error instanceof ClusterError && error.status === 404) return undefined
    throw error
  }
}

function readPair(secret: Resource): CertificatePair | undefined {
  const [cert, key] = [readSecretText(secret, 'tls.crt'), readSecretText(secret, 'tls.key')]
  return cert && key ? { cert, key } : undefined
}

/** Whether a certificate is for the service, and valid for long enough. */
function isValid({ cert }: CertificatePair, service: ServiceName, now: Date): boolean {
  const { validTo, subjectAltName } = new X509Certificate(cert)
  return subjectAltName === `DNS:${getHostName(service)}` && new Date(validTo).getTime() - now.getTime() > MIN_REMAINING
}

const getHostName = ({ name, namespace }: ServiceName): string => `${name}.${namespace}.svc`

/** Lets the API server trust certificates in PEM for each webhook of the configuration. */
async function trustCertificates(
  client: ClusterClient,
  { metadata, webhooks = [] }: WebhookConfiguration,
  certificates: string,
): Promise<void> {
  const value = Buffer.from(certificates).toString('base64')
  const outdated = [...webhooks.keys()].filter((at) => webhooks[at]!.clientConfig.caBundle !== value)
  if (!outdated.length) return
  const body = [
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    ...outdated.map((at) => ({ op: 'add', path: `/webhooks/${at}/clientConfig/caBundle`, value })),
  ]
  const path = `${CONFIGURATIONS}/${metadata.name}`
  await client.request('PATCH', path, { body, type: 'application/json-patch+json' })
}

/** Returns the Secret with other texts. `secret`: its current version, if there is one. */
function toSecret(
  { namespace, name }: ServiceName,
  secret: Resource | undefined,
  texts: Readonly<Record<string, string>>,
) {
  const { resourceVersion } = secret?.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name, ...(resourceVersion !== undefined && { resourceVersion }) },
    type: 'kubernetes.io/tls',
    data: toSecretData(texts),
  }
}

/** Creates a Secret, or replaces its current version. */
async function writeSecret(client: ClusterClient, secret: ReturnType<typeof toSecret>): Promise<void> {
  const { namespace, name, resourceVersion } = secret.metadata
  const path = `/api/v1/namespaces/${namespace}/secrets`
  const [method, target] =
    resourceVersion === undefined ? (['POST', path] as const) : (['PUT', `${path}/${name}`] as const)
  await client.request(method, `${target}`, { body: secret })
}

/** Creates a self-signed certificate for a service. */
async function createCertificate(service: ServiceName, now: Date): Promise<CertificatePair> {
  const { privateKey } = await generate('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const signingKey = forge.pki.privateKeyFromPem(key)
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.rsa.setPublicKey(signingKey.n, signingKey.e)
  certificate.serialNumber = `01${Buffer.from(forge.random.getBytesSync(15), 'latin1').toString('hex')}`
  certificate.validity.notBefore = new Date(now.getTime() - CLOCK_TOLERANCE)
  certificate.validity.notAfter = new Date(now.getTime() + LIFETIME)
  const subject = [{ name: 'commonName', value: 'regent-admission' }]
  certificate.setSubject(subject)
  certificate.setIssuer(subject)
  certificate.setExtensions([
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: [{ type: 2, value: getHostName(service) }] },
  ])
  certificate.sign(signingKey, forge.md.sha256.create())
  return { cert: forge.pki.certificateToPem(certificate).replaceAll('\r\n', '\n'), key }
}
