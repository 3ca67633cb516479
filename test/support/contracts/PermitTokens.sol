// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

import {PlainToken} from "./Token3009.sol";

/// @notice EIP-2612 as most tokens have it: v, r and s of the account's key, whether or not the account has code.
contract PermitToken is PlainToken {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    string public version;
    mapping(address => uint256) public nonces;

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

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        _beforePermit();
        require(block.timestamp <= deadline, "permit is expired");
        bytes32 terms = keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, nonces[owner], deadline));
        address signer = ecrecover(keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), terms)), v, r, s);
        require(signer != address(0) && signer == owner, "invalid permit");
        nonces[owner] += 1;
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function _beforePermit() internal virtual {}
}

/// @notice An EIP-2612 token that misbehaves in one way, which anyone may change.
contract HostilePermitToken is PermitToken {
    enum Behaviour {
        Honest,
        PermitDoesNothing,
        PermitReverts,
        PermitBurnsGas,
        PermitReenters,
        TransferReturnsNothing,
        TransferReturnsFalse,
        TransferReturnsTwo,
        TransferReturnsOneByte,
        TransferReverts,
        TransferReenters,
        TransferTakesFee
    }

    event Reentered(bool isDone, bytes result);

    Behaviour public behaviour;
    address public reentryTarget;
    bytes public reentry;

    constructor(string memory tokenName, string memory tokenVersion) PermitToken(tokenName, tokenVersion) {}

    function setBehaviour(Behaviour next) external {
        behaviour = next;
    }

    function setNonce(address owner, uint256 next) external {
        nonces[owner] = next;
    }

    function setReentry(address target, bytes calldata data) external {
        reentryTarget = target;
        reentry = data;
    }

    function _beforePermit() internal override {
        if (behaviour == Behaviour.PermitDoesNothing) {
            assembly {
                return(0, 0)
            }
        }
        if (behaviour == Behaviour.PermitReverts) revert("permit refused");
        if (behaviour == Behaviour.PermitBurnsGas) while (true) {}
        if (behaviour == Behaviour.PermitReenters) _reenter();
    }

    function _move(address from, address to, uint256 value) internal override {
        if (behaviour == Behaviour.TransferReverts) revert("transfer refused");
        if (behaviour == Behaviour.TransferReenters) _reenter();
        if (behaviour == Behaviour.TransferTakesFee) {
            super._move(from, address(0xFEE), value / 100);
            return super._move(from, to, value - value / 100);
        }
        if (behaviour == Behaviour.TransferReturnsFalse) _answer(0, 32);
        super._move(from, to, value);
        if (behaviour == Behaviour.TransferReturnsNothing) _answer(0, 0);
        if (behaviour == Behaviour.TransferReturnsTwo) _answer(2, 32);
        if (behaviour == Behaviour.TransferReturnsOneByte) _answer(1 << 248, 1);
    }

    function _reenter() private {
        (bool isDone, bytes memory result) = reentryTarget.call(reentry);
        emit Reentered(isDone, result);
    }

    /// @dev Ends the whole call.
    function _answer(uint256 word, uint256 size) private pure {
        assembly {
            mstore(0, word)
            return(0, size)
        }
    }
}

/// @notice Dai's permit: of everything or nothing, and not the function of EIP-2612.
contract DaiToken is PlainToken {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
    string public version;
    mapping(address => uint256) public nonces;

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

    function permit(
        address holder,
        address spender,
        uint256 nonce,
        uint256 expiry,
        bool allowed,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes32 terms = keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, nonce, expiry, allowed));
        bytes32 digest = keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), terms));
        require(holder != address(0) && holder == ecrecover(digest, v, r, s), "Dai/invalid-permit");
        require(expiry == 0 || block.timestamp <= expiry, "Dai/permit-expired");
        require(nonce == nonces[holder]++, "Dai/invalid-nonce");
        allowance[holder][spender] = allowed ? type(uint256).max : 0;
    }
}

/// @notice Like wrapped Ether: any function that it does not have succeeds and returns nothing.
contract AcceptsEverythingToken is PlainToken {
    constructor(string memory tokenName) PlainToken(tokenName) {}

    fallback() external payable {}
}
