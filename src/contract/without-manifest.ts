import { z } from '../kinds/zod.ts'
import { commandLine, type CommandContext } from '../plan/step.ts'

export const WithoutManifest = z
  .object({
    service: z.string(),
    /** ms since the epoch. */
    listedAt: z.number(),
    count: z.number(),
    pipes: z.array(z.object({ id: z.string(), name: z.string() }).readonly()).readonly(),
  })
  .readonly()
export type WithoutManifest = z.infer<typeof WithoutManifest>

export function withoutManifestSentence(
  { service, count, pipes }: WithoutManifest,
  context: CommandContext,
): string {
  const named = pipes.map(({ id, name }) => (name === '' ? id : `${name} (${id})`)).join(', ')
  const more = count > pipes.length ? ` and ${count - pipes.length} more` : ''
  const [has, them] = count === 1 ? ['pipe', 'a manifest for it'] : ['pipes', 'manifests for them']
  return (
    `${count} ${has} of service ${service} ${count === 1 ? 'has' : 'have'} no manifest: ${named}${more}. ` +
    `"${commandLine(`import --all ${service}`, context)}" writes ${them}.`
  )
}
