import { config, z } from 'zod'
import { isPlainlyShown } from '../lib/shown-text.ts'

// Interpreted: making code of a schema takes longer than the few hundred values that a start validates.
config({ jitless: true })

export { z }

/** A text that must not be empty. */
export const Text = z.string().min(1)

/** A count: a whole number from 0. */
export const Count = z.int().nonnegative()

/** A text that is a URL; wildcards in the path are allowed, as the interface allows them (2.3). It is not sensitive. */
export const Url = z
  .string()
  .refine((text) => URL.canParse(text), 'must be a URL, such as "https://registry.example:8081"')
  .refine(
    (text) => (URL.parse(text)?.password ?? '') === '',
    'must not hold a password: a URL is shown. Use `credentials` with a secretRef',
  )
  .meta({ examples: ['https://registry.example:8081'] })

/** As {@link Url}, over TLS. */
export const HttpsUrl = Url.refine((text) => text.startsWith('https://'), 'must begin with https://')

/** A host, as a URL has it. */
export const HostName = Text.regex(
  /^[^\s/@:]+$|^\[[0-9a-fA-F:.]+\]$/,
  'must be a host name or address, without scheme, port or path',
).meta({ examples: ['db.example'] })

/** A text that people read: it says why, or is a name. */
export const ShownText = z
  .string()
  .min(1)
  .refine(
    isPlainlyShown,
    'must hold no control character, and none that cannot be seen or turns the text around',
  )
