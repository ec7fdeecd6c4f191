// Sources in git by namespace: those of one are applied one after the other, and hold up no other namespace.
import { getErrorMessage } from '../../lib/error-message.ts'
import { formatPosition } from '../../lib/source-position.ts'
import { DocumentError } from '../../realm-file/yaml/problem.ts'
import { ActionError } from '../../reconcile/execute/action-error.ts'
import type { SourceReporter } from '../../reconcile/following/followed-source.ts'
import { SourceController } from '../../reconcile/following/source-controller.ts'
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'

/** The controllers of namespaces. */
export class NamespaceControllers {
  readonly #service: Service
  readonly #lease: Lease
  readonly #audience: SourceReporter
  readonly #controllers = new Map<string, SourceController>()
  readonly #closing: Promise<void>[] = []

  constructor(service: Service, lease: Lease, audience: Omit<SourceReporter, 'renderError'>) {
    this.#service = service
    this.#lease = lease
    this.#audience = { ...audience, renderError: words }
  }

  /** Returns the controller of a namespace; creates it if there is none. */
  of(namespace: string): SourceController {
    const controller =
      this.#controllers.get(namespace) ?? new SourceController(this.#service, this.#lease, this.#audience)
    this.#controllers.set(namespace, controller)
    return controller
  }

  /** Closes the controller of a namespace that has no sources any more. */
  end(namespace: string): void {
    const controller = this.#controllers.get(namespace)
    this.#controllers.delete(namespace)
    if (controller) this.#closing.push(controller.close())
  }

  /** Closes all controllers; resolves when nothing of them runs. */
  async close(): Promise<void> {
    for (const namespace of [...this.#controllers.keys()]) this.end(namespace)
    await Promise.all(this.#closing)
  }
}

/** An error in one line: of documents, the place of each problem. */
export function words(error: unknown): string {
  const problems = error instanceof DocumentError || error instanceof ActionError ? error.problems : []
  if (problems.length) return problems.map((one) => `${formatPosition(one.position)}: ${one.message}`).join('; ')
  return getErrorMessage(error)
}
