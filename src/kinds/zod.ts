import { config, z } from 'zod'

// Schemas are interpreted, because compiling them takes longer for a few hundred values.
config({ jitless: true })

export { z }

export const Text = z.string().min(1)

export const Flag = z.boolean().optional()

export const Lines = Text.meta({ form: 'lines' })

export const TextSet = z.array(Text).meta({ form: 'set' })

export const OrderedTexts = z.array(Text).meta({ form: 'ordered' })

export const Count = z.int().nonnegative()

/** A URL whose path can have wildcards. A password is refused, because Pipewright shows URLs. */
export const Url = z
  .string()
  .refine((text) => URL.canParse(text), 'must be a URL, such as "https://registry.example:8081"')
  .refine(
    (text) => (URL.parse(text)?.password ?? '') === '',
    'must not hold a password, because Pipewright shows URLs. Use `credentials` with a secretRef',
  )
  .meta({ examples: ['https://registry.example:8081'] })

export const HostName = Text.regex(
  /^[^\s/@:]+$|^\[[0-9a-fA-F:.]+\]$/,
  'must be a host name or address, without scheme, port or path',
).meta({ examples: ['db.example'] })
