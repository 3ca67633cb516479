import { createPaymentMiddleware, OpenFacilitator } from '@openfacilitator/sdk'
import express from 'express'
import { listen } from '../listen.mjs'
import { report, requirementsV1, requirementsV2 } from '../routes.mjs'

export const openShop = async ({ facilitatorUrl, families, version }) => {
  const facilitator = new OpenFacilitator({ url: facilitatorUrl })
  const app = express()
  for (const [family, terms] of Object.entries(families)) {
    const feePayer = family === 'solana' ? await facilitator.getFeePayer(terms.name) : undefined
    const extra = feePayer === undefined ? terms.extra : { feePayer }
    const requirements =
      version === 1 ? requirementsV1({ ...terms, extra }) : requirementsV2({ ...terms, extra })
    app.get(
      `/${family}`,
      createPaymentMiddleware({
        facilitator,
        getRequirements: () => requirements,
        ...(version === 1 ? { on402 } : {}),
      }),
      (_request, response) => response.json(report),
    )
  }
  return listen(app)
}

// Without it the middleware writes version 2 into the body.
const on402 = (_request, response, accepts) =>
  response.status(402).json({ x402Version: 1, error: 'Payment Required', accepts })
