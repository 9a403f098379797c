import { exploreFirst } from './first-stories.ts'
import { POD_WORLDS } from './pod-worlds.ts'
import { WORLDS } from './worlds.ts'

/* One fault. `metamorphic.test.ts` explores "tables". Worlds that take more than seconds of CPU time for that are left to `npm run explore`. */

exploreFirst(
  WORLDS.filter((world) => !POD_WORLDS.includes(world) && world.name !== 'tables'),
  ({ isLarge = false }) => (isLarge ? 0 : 1),
)
