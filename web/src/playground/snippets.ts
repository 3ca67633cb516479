import { isObject, toPrettyJson } from './json.js'

/** The payment: where the sandbox writes a new one, or one that is signed. */
export type PaymentSource = { readonly path: string } | { readonly body: unknown }

export interface Recorded {
  /** Of the service. */
  readonly origin: string
  readonly hasKey: boolean
  /** Body of `/accepts`. */
  readonly draft: unknown
  readonly payment: PaymentSource
  /** A signed payment has one order; a new payment gets a new one. */
  readonly idempotencyKey: string
}

export interface Snippet {
  readonly language: string
  /** Says how it is run. */
  readonly command: string
  readonly write: (recorded: Recorded) => string
}

const keyVariable = 'QUITTANCE_API_KEY'
const comments = {
  required: 'What the server asks for, completed: it answers 402 with these requirements.',
  made: 'The sandbox writes a payment, new each time.',
  signed: 'The payment that was signed.',
  verify: 'Would it settle at this moment?',
  settle: 'The payment. The same Idempotency-Key is answered once more with the same.',
}

const writeCurl = ({ origin, hasKey, draft, payment, idempotencyKey }: Recorded): string => {
  const key = hasKey ? ` \\\n  -H "authorization: Bearer $${keyVariable}"` : ''
  const post = (path: string, rest: string) =>
    `curl -sS -w '\\n' ${quoteForShell(`${origin}${path}`)} -H 'content-type: application/json'${key}${rest}`
  const get = (path: string) => `curl -sS ${quoteForShell(`${origin}${path}`)} -o payment.json`
  const [order, made] =
    'path' in payment
      ? ['"idempotency-key: order-$(date +%s)-$$"', `# ${comments.made}\n${get(payment.path)}`]
      : [
          quoteForShell(`idempotency-key: ${idempotencyKey}`),
          `# ${comments.signed}\ncat > payment.json <<'JSON'\n${toPrettyJson(payment.body)}\nJSON`,
        ]
  return `# ${comments.required}
${post('/accepts', ` -d @- <<'JSON'\n${toPrettyJson(draft)}\nJSON`)}

${made}

# ${comments.verify}
${post('/verify', ' -d @payment.json')}

# ${comments.settle}
${post('/settle', ` \\\n  -H ${order} -d @payment.json`)}
`
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

// JSON is an expression of the language.
const writeTypeScript = ({ origin, hasKey, draft, payment, idempotencyKey }: Recorded): string => `\
const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const response = await fetch(${toPrettyJson(origin)} + path, {
    method,
    headers: { 'content-type': 'application/json', ${hasKey ? `authorization: \`Bearer \${process.env.${keyVariable}}\`, ` : ''}...headers },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  console.log(response.status, text)
  return JSON.parse(text)
}

// ${comments.required}
await call('POST', '/accepts', ${toPrettyJson(draft)})

${
  'path' in payment
    ? `// ${comments.made}\nconst payment = await call('GET', ${toPrettyJson(payment.path)})\nconst order = \`order-\${crypto.randomUUID()}\``
    : `// ${comments.signed}\nconst payment = ${toPrettyJson(payment.body)}\nconst order = ${toPrettyJson(idempotencyKey)}`
}

// ${comments.verify}
await call('POST', '/verify', payment)

// ${comments.settle}
await call('POST', '/settle', payment, { 'idempotency-key': order })
`

const writePython = ({ origin, hasKey, draft, payment, idempotencyKey }: Recorded): string => `\
import json
import os
import urllib.error
import urllib.request
import uuid

def call(method, path, body=None, headers={}):
    request = urllib.request.Request(${toPrettyJson(origin)} + path, method=method)
    request.add_header("content-type", "application/json")
${hasKey ? `    request.add_header("authorization", "Bearer " + os.environ["${keyVariable}"])\n` : ''}\
    for name, value in headers.items():
        request.add_header(name, value)
    data = None if body is None else json.dumps(body).encode()
    try:
        answer = urllib.request.urlopen(request, data)
    except urllib.error.HTTPError as error:
        answer = error
    text = answer.read().decode()
    print(answer.status, text)
    return json.loads(text)

# ${comments.required}
call("POST", "/accepts", ${toPython(draft)})

${
  'path' in payment
    ? `# ${comments.made}\npayment = call("GET", ${toPrettyJson(payment.path)})\norder = f"order-{uuid.uuid4()}"`
    : `# ${comments.signed}\npayment = ${toPython(payment.body)}\norder = ${toPrettyJson(idempotencyKey)}`
}

# ${comments.verify}
call("POST", "/verify", payment)

# ${comments.settle}
call("POST", "/settle", payment, {"idempotency-key": order})
`

/** Escapes of JSON strings mean the same in Python. */
const toPython = (value: unknown, indent = ''): string => {
  const deeper = `${indent}    `
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((each) => `${deeper}${toPython(each, deeper)},\n`).join('')}${indent}]`
  }
  if (!isObject(value)) return JSON.stringify(value)
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  if (entries.length === 0) return '{}'
  const lines = entries.map(
    ([name, each]) => `${deeper}${JSON.stringify(name)}: ${toPython(each, deeper)},\n`,
  )
  return `{\n${lines.join('')}${indent}}`
}

const writeGo = ({ origin, hasKey, draft, payment, idempotencyKey }: Recorded): string => `\
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
${[...(hasKey ? ['"os"'] : []), ...('path' in payment ? ['"time"'] : [])].map((each) => `\t${each}\n`).join('')}\
)

func call(method, path string, body []byte, order string) []byte {
	request, err := http.NewRequest(method, ${toPrettyJson(origin)}+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("content-type", "application/json")
${hasKey ? `\trequest.Header.Set("authorization", "Bearer "+os.Getenv("${keyVariable}"))\n` : ''}\
	if order != "" {
		request.Header.Set("idempotency-key", order)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, string(text))
	return text
}

func main() {
	// ${comments.required}
	call("POST", "/accepts", []byte(${toGoString(toPrettyJson(draft))}), "")

${
  'path' in payment
    ? `\t// ${comments.made}\n\tpayment := call("GET", ${toPrettyJson(payment.path)}, nil, "")\n\torder := fmt.Sprintf("order-%d", time.Now().UnixNano())`
    : `\t// ${comments.signed}\n\tpayment := []byte(${toGoString(toPrettyJson(payment.body))})\n\torder := ${toPrettyJson(idempotencyKey)}`
}

	// ${comments.verify}
	call("POST", "/verify", payment, "")

	// ${comments.settle}
	call("POST", "/settle", payment, order)
}
`

/** A raw string knows no escapes, and no backquote. */
const toGoString = (text: string): string => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``)

/** The same requests in each language, with its own standard library only. */
export const snippets: readonly Snippet[] = [
  { language: 'curl', command: 'sh pay.sh', write: writeCurl },
  { language: 'TypeScript', command: 'npx tsx pay.mts', write: writeTypeScript },
  { language: 'Python', command: 'python3 pay.py', write: writePython },
  { language: 'Go', command: 'go run pay.go', write: writeGo },
]
