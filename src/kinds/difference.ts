/** One field that differs; texts are ready to be shown, with sensitive values masked. */
export interface Difference {
  /** Dotted path in the body of the interface, such as `source.kafka.topics`. */
  readonly field: string
  readonly desired: string
  readonly observed: string
}
