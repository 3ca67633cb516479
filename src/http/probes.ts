import type { FastifyRequest } from 'fastify'
import { unlimitedPaths } from '../protocol/requestLimits.js'

const probes = new Set<string | undefined>(unlimitedPaths)

/** /health, /ready and /metrics: served without limits or keys. */
export const isProbe = ({ routeOptions }: FastifyRequest): boolean => probes.has(routeOptions.url)
