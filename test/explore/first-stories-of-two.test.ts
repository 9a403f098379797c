import { exploreFirst } from './first-stories.ts'
import { POD_WORLDS } from './pod-worlds.ts'

/* Two processes need two faults: only then a fault of the fence or of a takeover shows. */

exploreFirst(POD_WORLDS, ({ name }) => (name === 'pods that differ' ? 1 : 2))
