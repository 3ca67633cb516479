import { z } from 'zod'
import { blockHashShape, operationHashShape, statusShape, timeShape } from '../read.js'

export const headerShape = z.object({
  chain_id: z.string(),
  hash: blockHashShape,
  level: z.int().nonnegative(),
  predecessor: blockHashShape,
  timestamp: timeShape,
})

/** Of the pass for operations of managers, in the order of the block. */
export const operationHashesShape = z.array(operationHashShape)

const contentShape = z.object({
  kind: z.string(),
  metadata: z.object({ operation_result: z.object({ status: statusShape }) }),
  source: z.string().optional(),
  destination: z.string().optional(),
  parameters: z.object({ entrypoint: z.string(), value: z.unknown() }).optional(),
})

export const operationShape = z.object({
  chain_id: z.string(),
  hash: operationHashShape,
  contents: z.array(contentShape).min(1),
})
