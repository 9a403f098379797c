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
  return `The service has no ${noun}, or the Service manifest has a wrong organizationId or serviceId. Both cases give the same reply.`
}
