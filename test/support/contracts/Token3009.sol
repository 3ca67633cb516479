// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

interface IERC1271 {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4);
}

/// @notice A small, correct token that anyone may mint. The hostile tokens change one thing each.
abstract contract PlainToken {
    string public name;
    string public symbol = "TEST";
    uint8 public constant decimals = 6;
    uint256 public totalSupply;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    constructor(string memory tokenName) {
        name = tokenName;
    }

    function mint(address to, uint256 value) external {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        _move(from, to, value);
        return true;
    }

    function _move(address from, address to, uint256 value) internal virtual {
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}

/// @notice EIP-3009 with the form that takes v, r and s: what the first tokens of the standard have.
abstract contract VrsToken3009 is PlainToken {
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    string public version;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    struct Authorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    constructor(string memory tokenName, string memory tokenVersion) PlainToken(tokenName) {
        version = tokenVersion;
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _execute(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH,
            Authorization(from, to, value, validAfter, validBefore, nonce),
            abi.encodePacked(r, s, v)
        );
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _receive(Authorization(from, to, value, validAfter, validBefore, nonce), abi.encodePacked(r, s, v));
    }

    function _receive(Authorization memory authorization, bytes memory signature) internal {
        require(authorization.to == msg.sender, "caller must be the payee");
        _execute(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, authorization, signature);
    }

    function _execute(bytes32 typeHash, Authorization memory authorization, bytes memory signature) internal {
        (address from, bytes32 nonce) = (authorization.from, authorization.nonce);
        if (_isSettledAlready(from, nonce)) return;
        require(block.timestamp > authorization.validAfter, "authorization is not yet valid");
        require(block.timestamp < authorization.validBefore, "authorization is expired");
        bytes32 digest = keccak256(
            abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), keccak256(abi.encode(typeHash, authorization)))
        );
        require(_isSigned(from, digest, signature), "invalid signature");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _move(from, authorization.to, authorization.value);
    }

    /// @dev Reverts for a used nonce; a token that returns true stops without a transfer.
    function _isSettledAlready(address from, bytes32 nonce) internal virtual returns (bool) {
        require(!authorizationState[from][nonce], "authorization is used");
        return false;
    }

    function _isSigned(address signer, bytes32 digest, bytes memory signature) internal view virtual returns (bool) {
        if (signature.length != 65) return false;
        bytes32 r;
        bytes32 s;
        assembly ("memory-safe") {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
        }
        if (uint256(s) > 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0) return false;
        address recovered = ecrecover(digest, uint8(signature[64]), r, s);
        return recovered != address(0) && recovered == signer;
    }
}

/// @notice EIP-3009 with both forms; the signature of a contract is checked after EIP-1271.
abstract contract Token3009 is VrsToken3009 {
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        _execute(
            TRANSFER_WITH_AUTHORIZATION_TYPEHASH,
            Authorization(from, to, value, validAfter, validBefore, nonce),
            signature
        );
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        _receive(Authorization(from, to, value, validAfter, validBefore, nonce), signature);
    }

    function _isSigned(address signer, bytes32 digest, bytes memory signature) internal view override returns (bool) {
        if (signer.code.length == 0) return super._isSigned(signer, digest, signature);
        try IERC1271(signer).isValidSignature(digest, signature) returns (bytes4 answer) {
            return answer == IERC1271.isValidSignature.selector;
        } catch {
            return false;
        }
    }
}
