// Measurements of work in the background, for metrics.

/** The labels of each measured quantity. */
interface MeasuredLabels {
  /** Keys of a work queue that are due and not begun. */
  readonly queueDepth: 'queue'
  /** A key became due. */
  readonly queueAdd: 'queue'
  /** A key was scheduled again after a failure. */
  readonly queueRetry: 'queue'
  /** Seconds between the time at which a key was due and its reconciliation. */
  readonly queueWait: 'queue'
  /** Seconds of a reconciliation. */
  readonly reconciliation: 'controller' | 'result'
  /** A request to the Kubernetes API server. */
  readonly clusterRequest: 'verb' | 'resource' | 'status'
  /** 1 if this process holds a lease, else 0. */
  readonly leaseHeld: 'lease'
  /** This process has taken a lease. */
  readonly leaseTaken: 'lease'
}

/** The name of a measured quantity. */
export type Quantity = keyof MeasuredLabels

/** A measured value. Events have the value 1. */
export interface Measurement {
  readonly quantity: Quantity
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Passes measurements on to listeners. Without one they are dropped. */
export class Measurements {
  readonly #listeners = new Set<(measurement: Measurement) => void>()

  /** Records a value, or an event. */
  record<Q extends Quantity>(quantity: Q, labels: Readonly<Record<MeasuredLabels[Q], string>>, value = 1): void {
    for (const listener of this.#listeners) listener({ quantity, labels, value })
  }

  /** Calls the listener with each measurement from now on. Returns a function that ends that. */
  subscribe(listener: (measurement: Measurement) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
