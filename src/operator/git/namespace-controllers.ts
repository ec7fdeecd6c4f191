// Controllers of git sources by namespace: sources of one namespace are applied one after the other, and block no other namespace.
import { getErrorMessage } from '../../lib/error-message.ts'
import { formatMessages } from '../../lib/source-position.ts'
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
  readonly #reporter: SourceReporter
  readonly #controllers = new Map<string, SourceController>()
  readonly #closing: Promise<void>[] = []

  constructor(service: Service, lease: Lease, reporter: Omit<SourceReporter, 'renderError'>) {
    this.#service = service
    this.#lease = lease
    this.#reporter = { ...reporter, renderError: renderSourceError }
  }

  /** Returns the controller of a namespace; creates it if there is none. */
  getOrCreate(namespace: string): SourceController {
    const controller =
      this.#controllers.get(namespace) ?? new SourceController(this.#service, this.#lease, this.#reporter)
    this.#controllers.set(namespace, controller)
    return controller
  }

  /** Closes the controller of a namespace without sources. */
  remove(namespace: string): void {
    const controller = this.#controllers.get(namespace)
    this.#controllers.delete(namespace)
    if (controller) this.#closing.push(controller.close())
  }

  /** Closes all controllers, and resolves when their runs in progress have ended. */
  async close(): Promise<void> {
    for (const namespace of [...this.#controllers.keys()]) this.remove(namespace)
    await Promise.all(this.#closing)
  }
}

/** Renders an error in one line; problems in documents with their positions. */
export function renderSourceError(error: unknown): string {
  const problems = error instanceof DocumentError || error instanceof ActionError ? error.problems : []
  if (!problems.length) return getErrorMessage(error)
  return formatMessages(problems).join('; ')
}
