import { createHash } from 'node:crypto'
import { Html, html } from './html.js'
import { style } from './style.js'

export interface HomePageNetwork {
  /** CAIP-2. */
  readonly network: string
  readonly name: string
  readonly schemes: readonly string[]
  readonly isServing: boolean
  readonly gas: string
}

interface HomePageView {
  readonly version: string
  /** Origin under which the caller reached this service. */
  readonly origin: string
  readonly isReady: boolean
  readonly isKeyRequired: boolean
  readonly isSandbox: boolean
  readonly networks: readonly HomePageNetwork[]
}

const styleHash = createHash('sha256').update(style).digest('base64')

/** It allows no script, the one style by its hash, and pictures of this service. */
export const homePagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const renderHomePage = ({
  version,
  origin,
  isReady,
  isKeyRequired,
  isSandbox,
  networks,
}: HomePageView): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>quittance · payment facilitator</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="A payment facilitator for HTTP 402: verifies signed stablecoin payments and settles them on chain.">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${new Html(style)}</style>
</head>
<body>
<div class="page">
<header>
<span class="brand">${logo}quittance</span>
<nav aria-label="Documentation"><a href="/console">Console</a><a href="/docs">API reference</a><a href="/supported">Supported</a><a href="/ready">Readiness</a></nav>
</header>
<main>
<section class="hero">
<div>
<p class="state"><span class="dot${isReady ? '' : ' off'}"></span>${isReady ? (isSandbox ? sandboxState : 'Ready for payments') : 'Not ready: see /ready'}</p>
<h1>Paid once, on chain, before you deliver.</h1>
<p class="lead">This is a payment facilitator for HTTP 402. Resource servers send it the stablecoin payments that their clients signed; it verifies them, settles them on chain, and never loses or doubles one. It speaks x402 and t402, versions 1 and 2.</p>
</div>
${seal}
</section>
<section class="columns">
<div class="shadow"><div class="receipt">
<h2>Networks</h2>
${networks.length === 0 ? noNetworks : listNetworks(networks)}
</div></div>
<div class="use">
<h2>Point a server at it</h2>
<p>Give this URL to any x402 or t402 server library. With Express:</p>
${describeUse(origin, networks, isKeyRequired)}
${isKeyRequired ? keyRequired : keyOptional}
${isSandbox ? sandboxHint : ''}
</div>
</section>
<section class="ways" aria-label="Links">
<a href="/console"><b>Console</b><span>Your payments as they arrive, and what became of each</span></a>
<a href="/docs"><b>API reference</b><span>Every endpoint, with examples to send</span></a>
<a href="/supported"><b>Supported payments</b><span>Schemes, networks and signers, as JSON</span></a>
<a href="/api/openapi.yaml"><b>OpenAPI 3.1</b><span>The same reference for client generators</span></a>
<a href="/info"><b>This instance</b><span>Version, endpoints and features as JSON</span></a>
</section>
</main>
<footer><span>quittance ${version}</span><span>Self-hosted · Apache-2.0</span></footer>
</div>
</body>
</html>
`.text

const logo = html`<svg viewBox="0 0 32 32" aria-hidden="true"><path d="M6 2h20v27l-3.3-2.4L19.3 29 16 26.6 12.7 29l-3.4-2.4L6 29z" fill="#12694d"/><path d="M10.5 14.2l4 4 7.2-8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

const seal = html`<svg class="seal" viewBox="0 0 200 200" fill="none" stroke="currentColor" aria-hidden="true">
<circle cx="100" cy="100" r="95" stroke-width="3"/><circle cx="100" cy="100" r="88" stroke-width="1"/><circle cx="100" cy="100" r="60" stroke-width="1"/>
<path id="ring" d="M100 173a73 73 0 1 1 .1 0" stroke="none"/>
<text fill="currentColor" stroke="none" font-size="15" font-family="ui-sans-serif, system-ui, sans-serif" font-weight="600" textLength="446"><textPath href="#ring">VERIFIED · SETTLED · PAID ONCE · HTTP 402 ·</textPath></text>
<path d="M70 102l21 21 41-46" stroke-width="9" stroke-linecap="round" stroke-linejoin="round"/>
</svg>`

const noNetworks = html`<p class="empty">None is configured: this instance cannot verify or settle a payment yet.</p>`

const listNetworks = (networks: readonly HomePageNetwork[]): Html => {
  const serving = networks.filter(({ isServing }) => isServing).length
  return html`<ul class="networks">
${networks.map(describeNetwork)}
</ul>
<p class="total"><span>Serving now</span><strong>${serving} of ${networks.length}</strong></p>`
}

const describeNetwork = ({ network, name, schemes, isServing, gas }: HomePageNetwork): Html => {
  const isLow = isServing && (gas === 'low' || gas === 'empty')
  const health = isServing ? (isLow ? 'serving, gas is low' : 'serving') : 'not serving'
  return html`<li><span class="name">${name}</span><span class="leader"></span><span class="health"><span class="dot${isServing && !isLow ? '' : ' off'}"></span>${health}</span><span class="id">${network}${schemes.length === 0 ? '' : ` · ${schemes.join(', ')}`}</span></li>
`
}

const describeUse = (origin: string, networks: readonly HomePageNetwork[], isKeyRequired: boolean): Html => {
  const network = networks.find(({ isServing }) => isServing)?.network ?? 'eip155:8453'
  const options = isKeyRequired
    ? html`{
  url: <b>'${origin}'</b>,
  createAuthHeaders, // Authorization: Bearer <your API key>
}`
    : html`{
  url: <b>'${origin}'</b>,
}`
  return html`<pre><code>const facilitator = new HTTPFacilitatorClient(${options})
const server = new x402ResourceServer(facilitator)
  .register('${network}', scheme)

app.use(paymentMiddleware({
  'GET /report': { accepts: {
    scheme: 'exact', price: '$0.01',
    network: '${network}', payTo: address,
  } },
}, server))</code></pre>`
}

const sandboxState = 'Sandbox: no payment is real'
const sandboxHint = html`<p>This is a sandbox: <a href="/sandbox/addresses"><code>GET /sandbox/addresses</code></a> has payments that are ready to send.</p>`

const keyRequired = html`<p>This instance requires an API key: <code>POST /register</code> with <code>email</code> and <code>projectName</code>. Without a library, call <code>POST /verify</code>, then <code>POST /settle</code>, and deliver after <code>success: true</code>.</p>`
const keyOptional = html`<p>No API key is required. Without a library, call <code>POST /verify</code>, then <code>POST /settle</code>, and deliver after <code>success: true</code>.</p>`
