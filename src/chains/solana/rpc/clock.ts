import type { Endpoint } from '../../nodes/endpoint.js'
import { clockSysvar } from '../encoding/programs.js'
import { accountShape, inContext } from './wireShapes.js'

interface NodeClock {
  readonly slot: number
  readonly timestamp: number
}

const timestampOffset = 32
const clockShape = inContext(accountShape)

export const readClock = async (
  endpoint: Endpoint,
  commitment: 'confirmed' | 'finalized',
): Promise<NodeClock> => {
  const params = [clockSysvar, { encoding: 'base64', commitment }]
  const { value } = await endpoint.request('getAccountInfo', params, clockShape)
  if (value === null || value.data.length < timestampOffset + 8)
    throw new Error('The clock sysvar is missing or malformed')
  return {
    slot: Number(value.data.readBigUInt64LE(0)),
    timestamp: Number(value.data.readBigInt64LE(timestampOffset)),
  }
}
