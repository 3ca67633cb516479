import { setFlagsFromString } from 'node:v8'

// V8 reads it whenever it considers to enlarge; as an option of node it has no effect.
const growBy = (factor: number): string => `--semi-space-growth-factor=${factor}`

/**
 * Keeps the young generation of V8 as small as it is. What a start creates survives, for which V8 enlarges the young
 * generation to its limit, twice 32 MiB, and a process without requests would keep all of it.
 */
export const holdYoungGeneration = (): void => setFlagsFromString(growBy(1))

/** For `--import` of node: holds it before the program is loaded, of which most survives. Names no file. */
export const holdingPreload = `data:text/javascript,import{setFlagsFromString}from"node:v8";setFlagsFromString("${growBy(1)}")`

/** From now on survivors of requests enlarge it, as by default. */
export const releaseYoungGeneration = (): void => setFlagsFromString(growBy(2))
