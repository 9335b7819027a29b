"""Two values reported together: which come together how often, by maximum likelihood over whole reports.

Source: Fanti, Pihur, Erlingsson, "Building a RAPPOR with the Unknown", PoPETs 2016, section 4. ``docs/joint.md`` has
the derivations and what was measured.
"""

from hubbub_decoder.joint.decode import decode_joint, estimate_joint
from hubbub_decoder.joint.estimates import OTHER, Independence, JointEstimates, Marginal

__all__ = ["OTHER", "Independence", "JointEstimates", "Marginal", "decode_joint", "estimate_joint"]
