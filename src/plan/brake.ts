/**
 * Whether so many creations are wanted at once that all of them are refused.
 * @param limit `--max-creates`, or Infinity once a person said yes
 */
export function brakeOf(input: {
  readonly wanted: number
  readonly limit: number
}): { readonly wanted: number; readonly limit: number } | undefined {
  return input.wanted > input.limit ? { wanted: input.wanted, limit: input.limit } : undefined
}
