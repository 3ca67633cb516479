import type { FastifyRequest } from 'fastify'
import { unlimitedPaths } from '../protocol/requestLimits.js'

const probes = new Set<string | undefined>(unlimitedPaths)

/** Whether a request comes from what watches the process: every few seconds for ever, and answered whatever fails. */
export const isProbe = ({ routeOptions }: FastifyRequest): boolean => probes.has(routeOptions.url)
