import { z } from '../../kinds/zod.ts'

export const ACCESS = z.strictObject({
  takesAway: z.array(z.string()).readonly(),
  gives: z.array(z.string()).readonly(),
})

/** Sentences with a leading space. */
export function accessWords({
  takesAway,
  gives = [],
}: {
  readonly takesAway: readonly string[]
  readonly gives?: readonly string[] | undefined
}): string {
  const loss = takesAway.length === 0 ? '' : ` It takes away ${takesAway.join(', ')}.`
  return gives.length === 0 ? loss : `${loss} It gives ${gives.join(', ')}.`
}

export function noneWords(noun: string): string {
  return `Either the service has no ${noun}, or organizationId or serviceId in its Service manifest is wrong. Both give the same reply.`
}
