import { config, z } from 'zod'

// Interpreted: making code of a schema takes longer than the few hundred values that a start validates.
config({ jitless: true })

export { z }
