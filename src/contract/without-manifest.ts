import { z } from '../kinds/zod.ts'

/** Pipes of one service that are named, at most. */
export const PIPES_NAMED = 20

/** Services that are told, at most. */
export const SERVICES_TOLD = 20

/** Characters of a name that are told, at most. */
export const NAME_TOLD = 80

/** Pipes of one service that its last list showed, and that no record and no manifest holds. */
export const WithoutManifest = z
  .object({
    /** `metadata.name` of the Service. */
    service: z.string(),
    /** When the list was asked for: ms since the epoch. */
    listedAt: z.number(),
    count: z.number(),
    /** The first of them, by their names there. */
    pipes: z.array(z.object({ id: z.string(), name: z.string() }).readonly()).readonly(),
  })
  .readonly()
export type WithoutManifest = z.infer<typeof WithoutManifest>

/** In a sentence, and what to type. */
export function withoutManifestSentence({ service, count, pipes }: WithoutManifest): string {
  const named = pipes.map(({ id, name }) => (name === '' ? id : `${name} (${id})`)).join(', ')
  const more = count > pipes.length ? ` and ${count - pipes.length} more` : ''
  const [has, them] = count === 1 ? ['pipe', 'a manifest for it'] : ['pipes', 'manifests for them']
  return (
    `${count} ${has} of service ${service} ${count === 1 ? 'has' : 'have'} no manifest: ${named}${more}. ` +
    `"pipewright import --all ${service}" writes ${them}.`
  )
}

/** The same, whenever it was found: a newer list that says no more is no news. */
export function withoutManifestDigest(all: readonly WithoutManifest[] | undefined): string {
  return JSON.stringify(all?.map(({ service, count, pipes }) => [service, count, pipes]))
}
